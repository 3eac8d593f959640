// The live stream: new events, attempts and order changes as they are committed, as server-sent events.
import Type from 'typebox'
import type { Context } from '../context.ts'
import type { Db } from '../db/db.ts'
import { type Route, route } from '../http/route.ts'
import type { Entry } from '../live/entries.ts'
import type { Message, Streams } from '../live/streams.ts'
import type { PartnerCaller, PartnerGate } from '../partners/gate.ts'
import { offsetMicros } from '../times.ts'
import { eventView } from './events.ts'
import { type AttemptRow, type EventRow, eventColumns, eventTables } from './queries.ts'

const webhookRoute = route<PartnerCaller>()
const headers = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  'x-accel-buffering': 'no', // a proxy that collects before it passes on would make it no stream
}
const example = `event: attempt
data: {"event_id":"evt_…","subscription_id":"sub_…","number":1,"at":"…","status":500,"error_kind":null,"duration_ms":12}

`

export function streamRoutes(streams: Streams, stillHolds: PartnerGate['stillHolds']): Route<PartnerCaller>[] {
  return [
    webhookRoute({
      method: 'GET',
      path: '/stream',
      id: 'followLive',
      tag: 'Webhook events',
      summary: 'Follow events, attempts and orders live',
      description:
        'Server-sent events. `webhook_event`: an event as search shows it, when it is created and when its state changes. `attempt`: `{event_id, subscription_id, number, at, status, error_kind, duration_ms}`. `order`: `{id, state, state_reason, last_updated_at}`, only with `orders:read`. `reset`: something may have been missed, load again what you show; one comes with every connection, from which on nothing is missed. Ends within two seconds when the key or session does. At most ten for each key and process.',
      access: 'webhooks:read',
      query: Type.Object({}, { additionalProperties: false }),
      replies: { 200: { description: 'Goes on until you leave.', file: { type: 'text/event-stream', example } } },
      errors: ['too_many_requests'],
      async handle({ caller, request }) {
        if (request.method === 'HEAD') return { status: 200, headers }
        const body = await streams.open({
          partnerId: caller.partnerId,
          keyId: caller.key.id,
          scopes: caller.key.scopes,
          stillHolds: () => stillHolds(caller),
        })
        return { status: 200, body, headers }
      },
    }),
  ]
}

// What became of entries, as it stands now.
export function describeEntries({ db }: Pick<Context, 'db'>) {
  return async (partnerId: string, entries: readonly Entry[]): Promise<Message[]> => {
    const attempts = entries.filter((entry) => entry.kind === 'attempt')
    const changed = entries.filter((entry) => entry.kind === 'event' || entry.kind === 'attempt')
    const orders = entries.filter((entry) => entry.kind === 'order')
    const tried = await findAttempts(
      db,
      partnerId,
      attempts.flatMap((entry) => entry.ids),
      attempts.flatMap((entry) => entry.numbers ?? []),
    )
    const events = await findEvents(db, partnerId, [...new Set(changed.flatMap((entry) => entry.ids))])
    return [
      ...tried.map((row) => ({ event: 'attempt', data: attemptMessage(row) })),
      ...events.map((row) => ({ event: 'webhook_event', data: eventView(row) })),
      ...orders.map((entry) => ({ event: 'order', data: entry.data, needs: 'orders:read' })),
    ]
  }
}

type TriedRow = Pick<AttemptRow, 'number' | 'at' | 'status' | 'errorKind' | 'durationMs'> & {
  eventId: string
  subscriptionId: string
}

function attemptMessage(row: TriedRow) {
  return {
    event_id: row.eventId,
    subscription_id: row.subscriptionId,
    number: row.number,
    at: offsetMicros(row.at),
    status: row.status,
    error_kind: row.errorKind,
    duration_ms: row.durationMs,
  }
}

async function findAttempts(
  db: Db,
  partnerId: string,
  eventIds: readonly string[],
  numbers: readonly number[],
): Promise<TriedRow[]> {
  if (eventIds.length === 0) return []
  const { rows } = await db.query<TriedRow>(
    `select a.event_id, e.subscription_id, a.number, a.at, a.status, a.error_kind, a.duration_ms
     from unnest($2::text[], $3::int[]) as n (event_id, number)
     join attempts a on a.partner_id = $1 and a.event_id = n.event_id and a.number = n.number
     join events e on e.partner_id = $1 and e.id = n.event_id order by a.at, a.event_id`,
    [partnerId, eventIds, numbers],
  )
  return rows
}

async function findEvents(db: Db, partnerId: string, ids: readonly string[]): Promise<EventRow[]> {
  if (ids.length === 0) return []
  const { rows } = await db.query<EventRow>(
    `select ${eventColumns} from ${eventTables} where e.partner_id = $1 and e.id = any($2) order by e.id`,
    [partnerId, ids],
  )
  return rows
}
