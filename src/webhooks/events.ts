// Events after they were published: what search shows, resending one, and resending many as a durable piece of work.
import type { Db, Tx } from '../db/db.ts'
import { fail } from '../errors.ts'
import { firstIdAt, newId } from '../ids.ts'
import { tellEvents, tellReset } from '../live/entries.ts'
import { type Actor, actorLabel, audit } from '../partners/audit.ts'
import { offsetMicros, offsetMicrosOrNull, type Timestamp } from '../times.ts'
import { type AttemptRow, type EventRow, eventConditions, lockEvent, queueResend } from './queries.ts'
import type { EventFilters } from './schema.ts'
import { signalLanes } from './signals.ts'

const eventsInOneStep = 500

// Section 4.3: one attempt, now. `delivery_tries` is the count before it.
export async function resendEvent(tx: Tx, actor: Actor, partnerId: string, id: string) {
  const event = await lockEvent(tx, partnerId, id)
  if (!event) throw fail('not_found', 'There is no such event.')
  if (event.state === 'pending')
    throw fail('invalid_event_state', 'The event is pending: it will be delivered without a resend.')
  if (event.subscriptionDeleted) throw fail('invalid_event_state', 'The subscription of the event was deleted.')
  if (event.subscriptionState === 'disabled') {
    throw fail('invalid_event_state', 'The subscription of the event is disabled; enable it first.')
  }
  await queueResend(tx, partnerId, id)
  await audit(tx, actor, { action: 'event.resent', partnerId, targetId: id })
  await signalLanes(tx, [event.subscriptionId], 'm')
  await tellEvents(tx, [{ partnerId, id }])
  return {
    id: event.id,
    created_at: offsetMicros(event.createdAt),
    delivery_url: event.deliveryUrl,
    delivery_tries: event.tries,
  }
}

export type BulkFilters = EventFilters & { error_reason?: string }

export interface BulkRow {
  partnerId: string
  id: string
  filters: BulkFilters
  state: 'running' | 'completed'
  uptoEventId: string
  position: string | null
  resent: number
  skipped: number
  createdAt: Timestamp
  finishedAt: Timestamp | null
}

// Takes what exists now: events created later are not part of it.
export async function startBulkResend(tx: Tx, actor: Actor, partnerId: string, filters: BulkFilters): Promise<BulkRow> {
  // Ids of events begin with the database's time, and so does the id up to which they are taken.
  const { rows: clock } = await tx.query<{ now: Timestamp }>('select clock_timestamp() as now')
  const upto = firstIdAt('evt', Date.parse(clock[0]!.now) + 1)
  const { rows } = await tx.query<BulkRow>(
    `insert into bulk_resends (partner_id, id, filters, upto_event_id, created_by) values ($1, $2, $3, $4, $5) returning *`,
    [partnerId, newId('bulk'), JSON.stringify(filters), upto, actorLabel(actor)],
  )
  await audit(tx, actor, { action: 'events.resent', partnerId, targetId: rows[0]!.id, details: filters })
  return rows[0]!
}

export async function findBulkResend(db: Db, partnerId: string, id: string): Promise<BulkRow | undefined> {
  const { rows } = await db.query<BulkRow>('select * from bulk_resends where partner_id = $1 and id = $2', [
    partnerId,
    id,
  ])
  return rows[0]
}

// One step of any bulk resend that nobody else is at, so that a large one does not hold up the others; false when there is none. A crash loses at most the step under way,
// which then has not happened.
export async function stepBulkResend(tx: Tx): Promise<boolean> {
  const { rows: running } = await tx.query<BulkRow>(
    `select * from bulk_resends where state = 'running' order by random() limit 1 for update skip locked`,
  )
  const bulk = running[0]
  if (!bulk) return false
  const { conditions, values } = eventConditions(bulk.partnerId, bulk.filters, bulk.position ?? bulk.uptoEventId)
  const { rows } = await tx.query<{ id: string; resendable: boolean }>(
    `select e.id, s.state = 'enabled' and s.deleted_at is null as resendable
     from events e join subscriptions s on s.partner_id = e.partner_id and s.id = e.subscription_id
     where ${conditions} order by e.id desc limit ${eventsInOneStep}`,
    values,
  )
  // What another transaction is at, such as one that deletes the subscription, is passed by.
  const { rows: resent } = await tx.query<{ subscriptionId: string }>(
    `with free as (
       select partner_id, id from events
       where partner_id = $1 and id = any($2) and state <> 'pending' for update skip locked)
     update events e set state = 'pending', queue = 'r', schedule_tries = 0, due_at = now(), error_reason = null
     from free where e.partner_id = free.partner_id and e.id = free.id returning e.subscription_id`,
    [bulk.partnerId, rows.filter((row) => row.resendable).map((row) => row.id)],
  )
  const done = rows.length < eventsInOneStep
  await tx.query(
    `update bulk_resends set position = coalesce($3, position), resent = resent + $4, skipped = skipped + $5,
       state = case when $6 then 'completed' else 'running' end, finished_at = case when $6 then now() end
     where partner_id = $1 and id = $2`,
    [bulk.partnerId, bulk.id, rows.at(-1)?.id ?? null, resent.length, rows.length - resent.length, done],
  )
  await signalLanes(tx, [...new Set(resent.map((row) => row.subscriptionId))], 'r')
  if (resent.length > 0) await tellReset(tx, bulk.partnerId)
  return true
}

export function bulkView(row: BulkRow) {
  return {
    id: row.id,
    state: row.state,
    filters: row.filters,
    resent: row.resent,
    skipped: row.skipped,
    created_at: offsetMicros(row.createdAt),
    finished_at: offsetMicrosOrNull(row.finishedAt),
  }
}

export function eventView(row: EventRow) {
  return {
    id: row.id,
    publication_id: row.publicationId,
    action: row.action,
    state: row.state,
    created_at: offsetMicros(row.createdAt),
    delivery_url: row.deliveryUrl,
    delivery_tries: row.tries,
    delivered_at: offsetMicrosOrNull(row.deliveredAt),
    last_attempt_at: offsetMicrosOrNull(row.lastAttemptAt),
    next_attempt_at: row.state === 'pending' ? offsetMicros(row.dueAt) : null,
    last_response_status: row.lastResponseStatus,
    error_reason: row.errorReason,
    subscription_id: row.subscriptionId,
    resource_id: row.resourceId,
  }
}

export function attemptView(row: AttemptRow) {
  return {
    number: row.number,
    at: offsetMicros(row.at),
    url: row.url,
    status: row.status,
    error_kind: row.errorKind,
    error_detail: row.errorDetail,
    duration_ms: row.durationMs,
    response_body: row.responseBody === null ? null : Buffer.from(row.responseBody).toString('utf8'),
  }
}
