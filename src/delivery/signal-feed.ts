// Reads signals without missing any, and each once: what a snapshot shows that the last one did not is what was committed by
// transactions that were running then, or began later. So a read costs what is new, however long some transaction stays open.
import type { Queryable } from '../db/db.ts'
import type { Timestamp } from '../times.ts'
import type { SignalQueue } from '../webhooks/signals.ts'

const rowsInOneStep = 5_000

export interface Signal {
  readonly id: number
  readonly subscriptionIds: string[]
  readonly queue: SignalQueue
  readonly dueAt: Timestamp
}

interface SignalRow {
  xmax: string
  running: string[]
  id: number | null
  subscriptionIds: string[] | null
  queue: SignalQueue | null
  dueAt: Timestamp | null
}

export interface SignalFeed {
  read(): Promise<Signal[]> // those not returned before
  prune(): Promise<void>
}

// Index signals_xid, twice.
export const readSignalsSql = `
  select pg_snapshot_xmax(now.snapshot)::text as xmax, array(select pg_snapshot_xip(now.snapshot)::text) as running,
    s.id, s.subscription_ids, s.queue, s.due_at
  from (select pg_current_snapshot() as snapshot) now left join (
    select id, subscription_ids, queue, due_at from signals where xid >= $1::xid8
    union all
    select id, subscription_ids, queue, due_at from signals where xid = any($2::xid8[])) s on true`

export async function openSignalFeed(db: Queryable): Promise<SignalFeed> {
  const { rows } = await db.query<{ xmax: string; running: string[] }>(
    `select pg_snapshot_xmax(snapshot)::text as xmax, array(select pg_snapshot_xip(snapshot)::text) as running
     from (select pg_current_snapshot() as snapshot) now`,
  )
  let { xmax, running } = rows[0]!
  let prunedTo: Timestamp | null = null

  return {
    async read() {
      const { rows } = await db.query<SignalRow>(readSignalsSql, [xmax, running])
      ;({ xmax, running } = rows[0]!)
      const signals: Signal[] = []
      for (const { id, subscriptionIds, queue, dueAt } of rows)
        if (id !== null) signals.push({ id, subscriptionIds: subscriptionIds!, queue: queue!, dueAt: dueAt! })
      return signals
    },
    // In small steps. What was deleted before is not walked over again: it may lie there dead for as long as somebody's snapshot.
    async prune() {
      const { rows } = await db.query<{ upto: Timestamp; from: Timestamp }>(
        `select now() - interval '10 minutes' as upto, now() - interval '12 minutes' as "from"`,
      )
      const { upto, from } = rows[0]!
      for (;;) {
        const { count } = await db.query(
          `delete from signals where id in (
             select id from signals where created_at >= $1 and created_at < $2 order by created_at limit ${rowsInOneStep})`,
          [prunedTo ?? '-infinity', upto],
        )
        if (count < rowsInOneStep) break
      }
      prunedTo = from
    },
  }
}
