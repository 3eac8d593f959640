// The operator's look at delivery as a whole: what waits, who works, and the endpoints that are worst off.
import Type from 'typebox'
import type { Context } from '../context.ts'
import { readOverview } from '../delivery/overview.ts'
import { type Route, route } from '../http/route.ts'
import { counts, endpointHealth } from '../webhooks/statistics-schema.ts'
import type { Operator } from './gate.ts'

const operatorRoute = route<Operator>()
const closed = { additionalProperties: false }
const time = (description: string) => Type.String({ format: 'date-time', description })

export const DeliveryOverview = Type.Object(
  {
    pending: Type.Integer({ description: 'Events that wait for delivery, counted up to 100,000.' }),
    oldest_undelivered_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
      description: 'When the oldest of them was created.',
    }),
    attempts_last_hour: Type.Integer({ description: 'Delivery attempts in the last hour.' }),
    failed_last_hour: Type.Integer({ description: 'Those that failed.' }),
    workers: Type.Array(
      Type.Object(
        {
          id: Type.String({ description: 'The worker’s incarnation.' }),
          started_at: time('Since when it works.'),
          heartbeat_at: time('When it was last heard of.'),
        },
        { ...closed, description: 'A process that delivers.' },
      ),
      { description: 'Every worker.' },
    ),
    endpoints: Type.Array(
      Type.Object(
        {
          partner_id: Type.String({ description: 'Whose endpoint it is.' }),
          partner_name: Type.String({ description: 'Name of that partner.' }),
          subscription_id: Type.String({ description: 'The subscription.' }),
          url: Type.String({ description: 'Where its events are sent.' }),
          ...endpointHealth,
          attempts: counts.attempts,
          failed: counts.failed,
          latency_ms: counts.latency_ms,
        },
        { ...closed, description: 'How an endpoint fared in the last hour.' },
      ),
      { description: 'At most 100, the worst first: failing, paused, then by how long they take.' },
    ),
  },
  { ...closed, description: 'How delivery stands.' },
)

export function deliveryAdministration(ctx: Context): Route<Operator>[] {
  return [
    operatorRoute({
      method: 'GET',
      path: '/delivery',
      id: 'getDelivery',
      tag: 'Delivery',
      summary: 'Show how delivery stands',
      access: 'read',
      replies: { 200: { description: 'Over all partners.', schema: DeliveryOverview } },
      handle: async () => ({ status: 200, body: await readOverview(ctx.db) }),
    }),
  ]
}
