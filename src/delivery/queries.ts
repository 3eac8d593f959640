// All SQL of the delivery side: workers and their heartbeat, lanes and who owns them, reading queues. Settling is in settle.ts.
import type { Db, Queryable, Tx } from '../db/db.ts'
import type { Timestamp } from '../times.ts'

const silence = `interval '8 seconds'` // after which a worker counts as dead and its lanes are free

export async function insertWorker(db: Queryable, id: string): Promise<void> {
  await db.query('insert into workers (id) values ($1)', [id])
}

// Undefined when the worker was declared dead in the meantime. The others are those heard of lately.
export async function renewHeartbeat(db: Queryable, id: string): Promise<string[] | undefined> {
  const { rows } = await db.query<{ alive: boolean; members: string[] }>(
    `with beat as (update workers set heartbeat_at = now() where id = $1 returning id)
     select exists (select 1 from beat) as alive, array(select id from workers where id = $1 or heartbeat_at > now() - ${silence}) as members`,
    [id],
  )
  return rows[0]!.alive ? rows[0]!.members : undefined
}

// The fence: held until commit, so that a worker is either alive for the whole of a write or the write does not happen. A key
// share lock stands against the removal of the row, but not against the heartbeat.
export async function holdFence(tx: Tx, id: string): Promise<boolean> {
  const { count } = await tx.query('select 1 from workers where id = $1 for key share', [id])
  return count === 1
}

// Removes workers that have been silent, and frees their lanes. One whose transaction still holds the fence is left for the next
// time: it ends soon, or the database ends it.
export async function reapWorkers(db: Db, except: string): Promise<string[]> {
  const silent = `select id from workers where id <> $1 and heartbeat_at < now() - ${silence}`
  const { count } = await db.query(silent, [except])
  if (count === 0) return []
  return db.transaction(async (tx) => {
    const { rows } = await tx.query<{ id: string }>(
      `with silent as (${silent} for update skip locked) delete from workers w using silent s where w.id = s.id returning w.id`,
      [except],
    )
    const dead = rows.map((row) => row.id)
    if (dead.length > 0) await freeLanes(tx, dead)
    return dead
  })
}

// And tells the others, who take their share at once.
async function freeLanes(tx: Tx, owners: readonly string[]): Promise<void> {
  await tx.query(
    `with freed as (update lanes set owner = null where owner = any($1) returning subscription_id)
     insert into signals (subscription_ids, queue, due_at) select array_agg(subscription_id), '*', now() from freed having count(*) > 0`,
    [owners],
  )
}

// A lane that names a worker who is no more would be worked on by nobody.
export async function freeOrphanedLanes(db: Queryable): Promise<void> {
  await db.query(
    `update lanes set owner = null where owner is not null and not exists (select 1 from workers w where w.id = lanes.owner)`,
  )
}

export async function listFreeLanes(db: Queryable): Promise<string[]> {
  const { rows } = await db.query<{ subscriptionId: string }>('select subscription_id from lanes where owner is null')
  return rows.map((row) => row.subscriptionId)
}

export async function listOwnLanes(db: Queryable, owner: string): Promise<string[]> {
  const { rows } = await db.query<{ subscriptionId: string }>('select subscription_id from lanes where owner = $1', [
    owner,
  ])
  return rows.map((row) => row.subscriptionId)
}

export interface LaneRow {
  subscriptionId: string
  partnerId: string
  url: string
  enabled: boolean
  deleted: boolean
  suspended: boolean
  rateLimitPerSecond: number | null
  firstPosition: Timestamp | null
  retryPosition: Timestamp | null
  failures: number
  failingForMs: number
  pausedForMs: number
  pauseMs: number
}

// A position is stored a little behind, by more than any publishing transaction lasts: what it committed late is not passed by.
const laneColumns = `l.subscription_id, l.partner_id, s.url, s.state = 'enabled' as enabled, s.deleted_at is not null as deleted,
  p.state = 'suspended' as suspended, s.rate_limit_per_second, l.failures, l.pause_ms,
  l.first_position - interval '5 minutes' as first_position, l.retry_position - interval '5 minutes' as retry_position,
  coalesce(extract(epoch from now() - l.failing_since) * 1000, 0)::float8 as failing_for_ms,
  coalesce(extract(epoch from l.paused_until - now()) * 1000, 0)::float8 as paused_for_ms`
const laneTables = `lanes l join subscriptions s on s.partner_id = l.partner_id and s.id = l.subscription_id join partners p on p.id = l.partner_id`

export async function takeLanes(tx: Tx, owner: string, subscriptionIds: readonly string[]): Promise<LaneRow[]> {
  await tx.query('update lanes set owner = $1 where subscription_id = any($2) and owner is null', [
    owner,
    subscriptionIds,
  ])
  return readLanes(tx, owner, subscriptionIds)
}

export async function readLanes(db: Queryable, owner: string, subscriptionIds: readonly string[]): Promise<LaneRow[]> {
  const { rows } = await db.query<LaneRow>(
    `select ${laneColumns} from ${laneTables} where l.subscription_id = any($2) and l.owner = $1`,
    [owner, subscriptionIds],
  )
  return rows
}

export interface LanePosition {
  readonly subscriptionId: string
  readonly first: Timestamp | null
  readonly retry: Timestamp | null
}

export async function storePositions(
  db: Queryable,
  owner: string,
  positions: readonly LanePosition[],
  release: boolean,
): Promise<void> {
  await db.query(
    `with stored as (
       update lanes l set owner = case when $5 then null else l.owner end,
         first_position = coalesce(n.first, l.first_position), retry_position = coalesce(n.retry, l.retry_position)
       from unnest($2::text[], $3::timestamptz[], $4::timestamptz[]) as n (subscription_id, first, retry)
       where l.subscription_id = n.subscription_id and l.owner = $1 returning l.subscription_id)
     insert into signals (subscription_ids, queue, due_at) select array_agg(subscription_id), '*', now() from stored where $5 having count(*) > 0`,
    [
      owner,
      positions.map((each) => each.subscriptionId),
      positions.map((each) => each.first),
      positions.map((each) => each.retry),
      release,
    ],
  )
}

// At the end of an orderly stop: nothing is left for others to wait for.
export async function removeWorker(db: Db, id: string): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.query('delete from workers where id = $1', [id]) // first: it waits for whoever holds the fence to take lanes
    await freeLanes(tx, [id])
  })
}

export interface QueueRequest {
  readonly subscriptionId: string
  readonly queue: 'f' | 'r' | 'm'
  readonly position: { readonly dueAt: Timestamp; readonly id: string } | null
  readonly take: number
}

export interface QueuedRow {
  request: number
  id: string
  partnerId: string
  action: string
  payload: string // escaped
  tries: number
  scheduleTries: number
  dueAt: Timestamp
  dueInMs: number
  ageMs: number
}

// The claim's hot query, for many lanes at once. It starts behind what was read before, so neither a backlog nor the dead rows
// of what was delivered are walked over: index events_queue, from the position on, `take` rows. Nothing is locked or written:
// the lanes are this worker's own.
export const readQueuesSql = `
  select a.request, e.id, e.partner_id, e.action, encode(e.payload, 'escape') as payload, e.tries, e.schedule_tries, e.due_at,
    (extract(epoch from e.due_at - now()) * 1000)::float8 as due_in_ms, (extract(epoch from now() - e.created_at) * 1000)::float8 as age_ms
  from unnest($1::int[], $2::text[], $3::text[], $4::timestamptz[], $5::text[], $6::int[]) as a (request, subscription_id, queue, due_at, id, take)
  cross join lateral (
    select id, partner_id, action, payload, tries, schedule_tries, due_at, created_at from events
    where subscription_id = a.subscription_id and queue = a.queue and state = 'pending' and (due_at, id) > (a.due_at, a.id)
    order by due_at, id limit a.take) e`

export function readQueuesValues(requests: readonly QueueRequest[]) {
  return [
    requests.map((_, i) => i),
    requests.map((each) => each.subscriptionId),
    requests.map((each) => each.queue),
    requests.map((each) => each.position?.dueAt ?? '-infinity'),
    requests.map((each) => each.position?.id ?? ''),
    requests.map((each) => each.take),
  ]
}

export async function readQueues(db: Queryable, requests: readonly QueueRequest[]): Promise<QueuedRow[]> {
  const { rows } = await db.query<QueuedRow>(readQueuesSql, readQueuesValues(requests))
  return rows
}
