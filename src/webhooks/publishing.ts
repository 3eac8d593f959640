// Publishing: what to send and to whom. An event, its queue entry and the signal for its lane are one transaction; `emit` joins
// a transaction of the caller's, so that a state change and its events exist together or not at all.
import type { Tx, Value } from '../db/db.ts'
import { newId } from '../ids.ts'
import { tellEvents } from '../live/entries.ts'
import { isPublic } from '../partners/queries.ts'
import { offsetMicros, type Timestamp } from '../times.ts'
import { type Action, type Entities, resourceIdOf } from './catalogue.ts'
import { signalLanes } from './signals.ts'

export interface Publication {
  readonly partnerId: string
  readonly action: Action
  readonly entities: Entities
  readonly text?: Buffer // the entities as their publisher wrote them, see `textOf`
}

export interface NewEvent {
  readonly partnerId: string
  readonly id: string
  readonly subscriptionId: string
  readonly publicationId: string
  readonly action: string
  readonly resourceId: string
  readonly payload: Buffer
  readonly enabled: boolean
  readonly createdAt: Timestamp
}

export interface Planned {
  readonly publicationId: string
  readonly events: readonly NewEvent[]
}

const closingBrace = 0x7d

interface Audience {
  now: Timestamp
  partnerId: string
  subscriptionId: string | null
  events: string[] | null
  state: string | null
}

export async function emit(tx: Tx, publications: readonly Publication[]): Promise<Planned[]> {
  const planned = (await plan(tx, publications)) as Planned[]
  await insertEvents(
    tx,
    planned.flatMap((each) => each.events),
  )
  return planned
}

// Undefined for a partner that does not exist. Publishing to three matching subscriptions makes three events.
export async function plan(tx: Tx, publications: readonly Publication[]): Promise<(Planned | undefined)[]> {
  const { rows } = await tx.query<Audience>(
    `select now() as now, p.id as partner_id, s.id as subscription_id, s.events, s.state
     from partners p left join subscriptions s on s.partner_id = p.id and s.deleted_at is null
     where p.id = any($1) and p.${isPublic} order by s.id`,
    [[...new Set(publications.map((each) => each.partnerId))]],
  )
  const audiences = Map.groupBy(rows, (row) => row.partnerId)
  return publications.map((publication) => {
    const audience = audiences.get(publication.partnerId)
    return audience && planOne(publication, audience)
  })
}

// `"order":{…}`, the members of an event's body that its type asks for. What its publisher wrote is passed on byte for byte:
// parsed and written again, 1.10 would be 1.1 and 12345678901234567890 another number.
export function textOf(entities: Entities, written: ReadonlyMap<string, Buffer> = new Map()): Buffer {
  const parts = Object.keys(entities).flatMap((name, i) => [
    Buffer.from(`${i > 0 ? ',' : ''}"${name}":`),
    written.get(name) ?? Buffer.from(JSON.stringify(entities[name])),
  ])
  return Buffer.concat(parts)
}

function planOne({ partnerId, action, entities, text }: Publication, audience: readonly Audience[]): Planned {
  const publicationId = newId('pub')
  const createdAt = audience[0]!.now
  const createdMs = Date.parse(createdAt)
  const resourceId = resourceIdOf(action, entities)
  const rest = text ?? textOf(entities)
  const events: NewEvent[] = []
  for (const { subscriptionId, events: wanted, state } of audience) {
    if (subscriptionId === null || !wanted!.includes(action)) continue
    const id = newId('evt', createdMs)
    const start = `{"id":"${id}","action":"${action}","created_at":"${offsetMicros(createdAt)}",`
    const payload = Buffer.allocUnsafe(start.length + rest.length + 1) // `start` is ASCII
    payload.write(start, 'latin1')
    payload.set(rest, start.length)
    payload[payload.length - 1] = closingBrace
    events.push({
      partnerId,
      id,
      subscriptionId,
      publicationId,
      action,
      resourceId,
      payload,
      enabled: state === 'enabled',
      createdAt,
    })
  }
  return { publicationId, events }
}

export async function insertEvents(tx: Tx, events: readonly NewEvent[]): Promise<void> {
  if (events.length === 0) return
  await tx.query(insertEventsSql(1), eventValues(events))
  const lanes = new Set(events.filter((each) => each.enabled).map((each) => each.subscriptionId))
  await signalLanes(tx, [...lanes], 'f', events[0]!.createdAt)
  await tellEvents(tx, events)
}

// What matches a disabled subscription is kept too, in `error`, to be resent once it is enabled again.
// `from`: the number of the first parameter.
export function insertEventsSql(from: number): string {
  const types = ['text', 'text', 'text', 'text', 'text', 'text', 'bytea', 'bool', 'timestamptz']
  return `insert into events (partner_id, id, subscription_id, publication_id, action, resource_id, payload, state, error_reason, due_at, created_at)
     select partner_id, id, subscription_id, publication_id, action, resource_id, payload,
       case when enabled then 'pending' else 'error' end, case when enabled then null else 'subscription_disabled' end, created_at, created_at
     from unnest(${types.map((type, i) => `$${from + i}::${type}[]`).join(', ')})
       as new (partner_id, id, subscription_id, publication_id, action, resource_id, payload, enabled, created_at)`
}

export function eventValues(events: readonly NewEvent[]): Value[] {
  return [
    events.map((each) => each.partnerId),
    events.map((each) => each.id),
    events.map((each) => each.subscriptionId),
    events.map((each) => each.publicationId),
    events.map((each) => each.action),
    events.map((each) => each.resourceId),
    events.map((each) => each.payload),
    events.map((each) => each.enabled),
    events.map((each) => each.createdAt),
  ]
}
