// All SQL about subscriptions and the reading side of events, one function a statement, every one scoped to its partner.
import type { Queryable, Tx } from '../db/db.ts'
import type { Page } from '../http/paging.ts'
import { firstIdAt } from '../ids.ts'
import { fromWire, type Timestamp } from '../times.ts'
import type { EventFilters, NewSubscription } from './schema.ts'

export interface SubscriptionRow {
  partnerId: string
  id: string
  url: string
  events: string[]
  description: string
  rateLimitPerSecond: number | null
  state: 'enabled' | 'disabled'
  disabledReason: string | null
  deletedAt: Timestamp | null
  createdAt: Timestamp
}

// The partner's row is locked, so that two requests cannot both take the last free place.
export async function countSubscriptions(tx: Tx, partnerId: string): Promise<number> {
  await tx.query('select 1 from partners where id = $1 for no key update', [partnerId])
  const { rows } = await tx.query<{ count: number }>(
    'select count(*)::int as count from subscriptions where partner_id = $1 and deleted_at is null',
    [partnerId],
  )
  return rows[0]!.count
}

export async function insertSubscription(
  tx: Tx,
  partnerId: string,
  id: string,
  wanted: NewSubscription,
): Promise<SubscriptionRow> {
  const { rows } = await tx.query<SubscriptionRow>(
    `insert into subscriptions (partner_id, id, url, events, description, rate_limit_per_second)
     values ($1, $2, $3, $4, $5, $6) returning *`,
    [partnerId, id, wanted.url, wanted.events, wanted.description ?? '', wanted.rate_limit_per_second ?? null],
  )
  await tx.query('insert into lanes (subscription_id, partner_id) values ($1, $2)', [id, partnerId])
  return rows[0]!
}

export async function listSubscriptions(db: Queryable, partnerId: string, page: Page): Promise<SubscriptionRow[]> {
  const { rows } = await db.query<SubscriptionRow>(
    `select * from subscriptions where partner_id = $1 and deleted_at is null and ($2::text is null or id < $2)
     order by id desc limit $3`,
    [partnerId, page.before, page.limit + 1],
  )
  return rows
}

export async function findSubscription(
  db: Queryable,
  partnerId: string,
  id: string,
): Promise<SubscriptionRow | undefined> {
  const { rows } = await db.query<SubscriptionRow>(
    'select * from subscriptions where partner_id = $1 and id = $2 and deleted_at is null',
    [partnerId, id],
  )
  return rows[0]
}

export async function lockSubscription(tx: Tx, partnerId: string, id: string): Promise<SubscriptionRow | undefined> {
  const { rows } = await tx.query<SubscriptionRow>(
    'select * from subscriptions where partner_id = $1 and id = $2 and deleted_at is null for update',
    [partnerId, id],
  )
  return rows[0]
}

export async function updateSubscription(tx: Tx, row: SubscriptionRow): Promise<void> {
  await tx.query(
    `update subscriptions set url = $3, events = $4, description = $5, rate_limit_per_second = $6, state = $7, disabled_reason = $8
     where partner_id = $1 and id = $2`,
    [
      row.partnerId,
      row.id,
      row.url,
      row.events,
      row.description,
      row.rateLimitPerSecond,
      row.state,
      row.disabledReason,
    ],
  )
}

export async function markSubscriptionDeleted(tx: Tx, partnerId: string, id: string): Promise<void> {
  await tx.query('update subscriptions set deleted_at = now() where partner_id = $1 and id = $2', [partnerId, id])
}

// A healthy endpoint's record: what an enabled subscription starts with.
export async function resetLane(tx: Tx, subscriptionId: string): Promise<void> {
  await tx.query(
    'update lanes set failures = 0, failing_since = null, paused_until = null, pause_ms = 0 where subscription_id = $1',
    [subscriptionId],
  )
}

const rowsInOneStatement = 10_000
const giveUp = `update events e set state = 'error', error_reason = $2 from pending p where e.partner_id = p.partner_id and e.id = p.id`

// Uses events_queue. All of them, for a deletion; waits for what is being settled, in the order in which settling locks. In
// several statements, because each has only so much time; what is published meanwhile is left to the engine, or there would be no end.
export async function giveUpAllPending(tx: Tx, subscriptionId: string, reason: string): Promise<void> {
  for (let given = 1; given > 0; ) {
    const { count } = await tx.query(
      `with pending as (
         select partner_id, id from events
         where subscription_id = $1 and state = 'pending' and created_at <= now() order by id limit $3 for update)
       ${giveUp}`,
      [subscriptionId, reason, rowsInOneStatement],
    )
    given = count
  }
}

// Uses events_queue. Up to `most`; passes by what is being settled. Whether some are left.
export async function giveUpPending(tx: Tx, subscriptionId: string, reason: string, most: number): Promise<boolean> {
  await tx.query(
    `with pending as (
       select partner_id, id from events where subscription_id = $1 and state = 'pending' limit $3 for update skip locked)
     ${giveUp}`,
    [subscriptionId, reason, most],
  )
  const { count } = await tx.query(`select 1 from events where subscription_id = $1 and state = 'pending' limit 1`, [
    subscriptionId,
  ])
  return count > 0
}

// Uses events_queue. Brings every waiting retry forward; what is being settled has just been tried.
export async function retryAllNow(tx: Tx, subscriptionId: string): Promise<number> {
  for (let total = 0; ; ) {
    const { count } = await tx.query(
      `with waiting as (
         select partner_id, id from events
         where subscription_id = $1 and state = 'pending' and queue = 'r' and due_at > now() limit $2 for update skip locked)
       update events e set due_at = now() from waiting w where e.partner_id = w.partner_id and e.id = w.id`,
      [subscriptionId, rowsInOneStatement],
    )
    total += count
    if (count < rowsInOneStatement) return total
  }
}

export interface EventRow {
  partnerId: string
  id: string
  subscriptionId: string
  publicationId: string
  action: string
  resourceId: string
  state: 'pending' | 'completed' | 'error'
  dueAt: Timestamp
  tries: number
  deliveredAt: Timestamp | null
  lastAttemptAt: Timestamp | null
  lastResponseStatus: number | null
  errorReason: string | null
  createdAt: Timestamp
  deliveryUrl: string
}

export const eventColumns = `e.partner_id, e.id, e.subscription_id, e.publication_id, e.action, e.resource_id, e.state, e.due_at, e.tries, e.delivered_at,
  e.last_attempt_at, e.last_response_status, e.error_reason, e.created_at, s.url as delivery_url`
export const eventTables = 'events e join subscriptions s on s.partner_id = e.partner_id and s.id = e.subscription_id'

// Ids begin with their time, so a time range is also a range of ids: the primary key, or one of the filter indexes, carries all.
export function eventConditions(
  partnerId: string,
  filters: EventFilters & { error_reason?: string },
  before: string | null,
) {
  const values: (string | number)[] = [partnerId]
  const conditions = ['e.partner_id = $1']
  const add = (condition: string, value: string) => conditions.push(condition.replace('?', `$${values.push(value)}`))
  if (filters.state) add('e.state = ?', filters.state)
  if (filters.action) add('e.action = ?', filters.action)
  if (filters.subscription_id) add('e.subscription_id = ?', filters.subscription_id)
  if (filters.resource_id) add('e.resource_id = ?', filters.resource_id)
  if (filters.error_reason) add('e.error_reason = ?', filters.error_reason)
  if (filters.created_from) {
    const from = fromWire(filters.created_from)
    add('e.created_at >= ?', from)
    add('e.id >= ?', firstIdAt('evt', Date.parse(from)))
  }
  if (filters.created_to) {
    const to = fromWire(filters.created_to)
    add('e.created_at < ?', to)
    add('e.id < ?', firstIdAt('evt', Date.parse(to) + 1))
  }
  if (before !== null) add('e.id < ?', before)
  return { conditions: conditions.join(' and '), values }
}

export async function searchEvents(
  db: Queryable,
  partnerId: string,
  filters: EventFilters,
  page: Page,
): Promise<EventRow[]> {
  const { conditions, values } = eventConditions(partnerId, filters, page.before)
  const { rows } = await db.query<EventRow>(
    `select ${eventColumns} from ${eventTables} where ${conditions} order by e.id desc limit ${page.limit + 1}`,
    values,
  )
  return rows
}

export async function findEvent(
  db: Queryable,
  partnerId: string,
  id: string,
): Promise<(EventRow & { payload: Uint8Array }) | undefined> {
  const { rows } = await db.query<EventRow & { payload: Uint8Array }>(
    `select ${eventColumns}, e.payload from ${eventTables} where e.partner_id = $1 and e.id = $2`,
    [partnerId, id],
  )
  return rows[0]
}

export interface AttemptRow {
  number: number
  at: Timestamp
  url: string
  status: number | null
  errorKind: string | null
  errorDetail: string | null
  durationMs: number
  responseBody: Uint8Array | null
}

export async function listAttempts(db: Queryable, partnerId: string, eventId: string): Promise<AttemptRow[]> {
  const { rows } = await db.query<AttemptRow>(
    `select number, at, url, status, error_kind, error_detail, duration_ms, response_body from attempts
     where partner_id = $1 and event_id = $2 order by number`,
    [partnerId, eventId],
  )
  return rows
}

export interface LockedEvent extends EventRow {
  subscriptionState: 'enabled' | 'disabled'
  subscriptionDeleted: boolean
}

export async function lockEvent(tx: Tx, partnerId: string, id: string): Promise<LockedEvent | undefined> {
  const { rows } = await tx.query<LockedEvent>(
    `select ${eventColumns}, s.state as subscription_state, s.deleted_at is not null as subscription_deleted
     from ${eventTables} where e.partner_id = $1 and e.id = $2 for update of e`,
    [partnerId, id],
  )
  return rows[0]
}

export async function queueResend(tx: Tx, partnerId: string, id: string): Promise<void> {
  await tx.query(
    `update events set state = 'pending', queue = 'm', due_at = now(), error_reason = null where partner_id = $1 and id = $2`,
    [partnerId, id],
  )
}
