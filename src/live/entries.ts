// What those who follow a partner are to be told: written in the transaction that changed something, and only while somebody watches
// that partner. An entry names what changed; who reads it looks up how it is by then. Too much at once is told as "look again".
import type { Queryable, Tx } from '../db/db.ts'

const mostIds = 200
const keptFor = '3 minutes'

export interface Change {
  readonly partnerId: string
  readonly id: string
  readonly number?: number
}

export async function tellEvents(tx: Tx, events: readonly Change[]): Promise<void> {
  await tell(tx, 'event', events)
}

// Attempts, by event and number.
export async function tellAttempts(tx: Tx, attempts: readonly Change[]): Promise<void> {
  await tell(tx, 'attempt', attempts)
}

export async function tellOrder(tx: Tx, partnerId: string, id: string, data: Record<string, unknown>): Promise<void> {
  if (tx.isWatched?.(partnerId)) await insertEntry(tx, partnerId, 'order', { ids: [id], data })
}

export async function tellReset(tx: Tx, partnerId: string): Promise<void> {
  if (tx.isWatched?.(partnerId)) await insertEntry(tx, partnerId, 'reset', { ids: [] })
}

async function tell(tx: Tx, kind: 'event' | 'attempt', changes: readonly Change[]): Promise<void> {
  if (!tx.isWatched) return
  const watched = changes.filter(({ partnerId }) => tx.isWatched!(partnerId))
  for (const [partnerId, mine] of Map.groupBy(watched, (each) => each.partnerId)) {
    if (mine.length > mostIds) await insertEntry(tx, partnerId, 'reset', { ids: [] })
    else {
      const numbers = kind === 'attempt' ? mine.map((each) => each.number!) : null
      await insertEntry(tx, partnerId, kind, { ids: mine.map((each) => each.id), numbers })
    }
  }
}

interface EntryParts {
  readonly ids: readonly string[]
  readonly numbers?: readonly number[] | null
  readonly data?: Record<string, unknown>
}

async function insertEntry(tx: Tx, partnerId: string, kind: string, { ids, numbers, data }: EntryParts): Promise<void> {
  await tx.query('insert into stream_entries (partner_id, kind, ids, numbers, data) values ($1, $2, $3, $4, $5)', [
    partnerId,
    kind,
    ids,
    numbers ?? null,
    data ? JSON.stringify(data) : null,
  ])
}

export interface Entry {
  readonly partnerId: string
  readonly kind: 'event' | 'attempt' | 'order' | 'reset'
  readonly ids: string[]
  readonly numbers: number[] | null
  readonly data: Record<string, unknown> | null
}

export interface EntryFeed {
  read(partnerIds: readonly string[]): Promise<Entry[]> // those not returned before, of these partners
}

type EntryRow = { xmax: string; running: string[]; id: number | null } & Entry

// Reads without missing any, and each once, as signals are read: what a snapshot shows that the last one did not is what was
// committed by transactions that were running then, or began later. Index stream_entries_xid, twice.
export async function openEntryFeed(db: Queryable): Promise<EntryFeed> {
  const { rows } = await db.query<{ xmax: string; running: string[] }>(
    `select pg_snapshot_xmax(snapshot)::text as xmax, array(select pg_snapshot_xip(snapshot)::text) as running
     from (select pg_current_snapshot() as snapshot) now`,
  )
  let { xmax, running } = rows[0]!
  return {
    async read(partnerIds) {
      const { rows } = await db.query<EntryRow>(
        `select pg_snapshot_xmax(now.snapshot)::text as xmax, array(select pg_snapshot_xip(now.snapshot)::text) as running,
           e.id, e.partner_id, e.kind, e.ids, e.numbers, e.data
         from (select pg_current_snapshot() as snapshot) now left join (
           select * from stream_entries where xid >= $1::xid8 and partner_id = any($3)
           union all
           select * from stream_entries where xid = any($2::xid8[]) and partner_id = any($3)) e on true
         order by e.id`,
        [xmax, running, partnerIds],
      )
      ;({ xmax, running } = rows[0]!)
      return rows.filter((row) => row.id !== null)
    },
  }
}

export async function pruneEntries(db: Queryable): Promise<void> {
  await db.query(`delete from stream_entries where created_at < now() - interval '${keptFor}'`)
}
