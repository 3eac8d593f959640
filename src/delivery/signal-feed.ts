// Reads signals without missing any: a transaction that is still running may yet add a row with an older xid, so the reader's
// mark is the oldest xid that was running when it last looked, and rows at or after the mark are looked at again.
import type { Queryable } from '../db/db.ts'
import type { Timestamp } from '../times.ts'
import type { SignalQueue } from '../webhooks/signals.ts'

export interface Signal {
  readonly id: number
  readonly subscriptionIds: string[]
  readonly queue: SignalQueue
  readonly dueAt: Timestamp
}

interface SignalRow {
  mark: string
  xid: string | null
  id: number | null
  subscriptionIds: string[] | null
  queue: SignalQueue | null
  dueAt: Timestamp | null
}

export interface SignalFeed {
  read(): Promise<Signal[]> // those not returned before
  prune(): Promise<void>
}

export async function openSignalFeed(db: Queryable): Promise<SignalFeed> {
  const { rows } = await db.query<{ mark: string }>('select pg_snapshot_xmin(pg_current_snapshot())::text as mark')
  let mark = rows[0]!.mark
  const seen = new Map<number, bigint>() // signals at or after the mark, by id

  return {
    async read() {
      const { rows } = await db.query<SignalRow>(
        `select pg_snapshot_xmin(pg_current_snapshot())::text as mark, s.xid::text as xid, s.id, s.subscription_ids, s.queue, s.due_at
         from (select 1) one left join signals s on s.xid >= $1::xid8`,
        [mark],
      )
      mark = rows[0]!.mark
      const fresh: Signal[] = []
      for (const { xid, id, subscriptionIds, queue, dueAt } of rows) {
        if (id === null || seen.has(id)) continue
        seen.set(id, BigInt(xid!))
        fresh.push({ id, subscriptionIds: subscriptionIds!, queue: queue!, dueAt: dueAt! })
      }
      const settled = BigInt(mark)
      for (const [id, xid] of seen) if (xid < settled) seen.delete(id)
      return fresh
    },
    async prune() {
      await db.query(`delete from signals where created_at < now() - interval '10 minutes'`)
    },
  }
}
