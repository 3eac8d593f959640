// Signals: how lanes learn that they have something to do. A row in the same transaction as the work (so it cannot be lost), a
// direct call for the engine in this process, and a debounced notification, outside of any publishing transaction, for others.
import type { Context } from '../context.ts'
import type { Tx } from '../db/db.ts'
import type { Timestamp } from '../times.ts'

const notifyEveryMs = 20
export const signalChannel = 'partner_service_signals'

// Which queue of the lanes got something, from `dueAt` on; '*' when a lane itself changed and must be read anew.
export type SignalQueue = 'f' | 'r' | 'm' | '*'

export async function signalLanes(
  tx: Tx,
  subscriptionIds: readonly string[],
  queue: SignalQueue,
  dueAt: Timestamp | null = null,
): Promise<void> {
  if (subscriptionIds.length === 0) return
  await tx.query('insert into signals (subscription_ids, queue, due_at) values ($1, $2, coalesce($3, now()))', [
    subscriptionIds,
    queue,
    dueAt,
  ])
}

// A partner was suspended or activated: all its lanes stop, or go on.
export async function signalPartner(tx: Tx, partnerId: string): Promise<void> {
  const { rows } = await tx.query<{ id: string }>(
    'select id from subscriptions where partner_id = $1 and deleted_at is null',
    [partnerId],
  )
  await signalLanes(
    tx,
    rows.map((row) => row.id),
    '*',
  )
}

export interface Waker {
  wake(): void // after a commit that signalled
  onWake(listener: () => void): void
}

export function createWaker(ctx: Context): Waker {
  const listeners: (() => void)[] = []
  let notifying = false
  const notify = () => {
    notifying = false
    ctx.db.query('select pg_notify($1, $2)', [signalChannel, '']).catch(() => {}) // polling is behind it
  }
  return {
    wake() {
      for (const listener of listeners) listener()
      if (notifying || ctx.db.kind === 'embedded') return
      notifying = true
      setTimeout(notify, notifyEveryMs).unref()
    },
    onWake: (listener) => void listeners.push(listener),
  }
}
