// The partner's look at how its deliveries fare.
import Type from 'typebox'
import type { Context } from '../context.ts'
import { type Route, route } from '../http/route.ts'
import type { PartnerCaller } from '../partners/gate.ts'
import { readStatistics } from './statistics.ts'
import { DeliveryStatistics } from './statistics-schema.ts'

const webhookRoute = route<PartnerCaller>()

export function statisticsRoutes(ctx: Context): Route<PartnerCaller>[] {
  return [
    webhookRoute({
      method: 'GET',
      path: '/webhooks/stats',
      id: 'getDeliveryStatistics',
      tag: 'Webhook events',
      summary: 'Show how deliveries fare',
      description:
        'Attempts by outcome over time, how long they took, what waits, and how each endpoint stands. Attempts are counted within two seconds; a worker that is killed takes its last two seconds of counts with it.',
      access: 'webhooks:read',
      query: Type.Object(
        {
          window: Type.Optional(
            Type.Enum(['1h', '24h', '7d'], { default: '24h', description: 'How far to look back.' }),
          ),
          subscription_id: Type.Optional(Type.String({ maxLength: 100, description: 'Only this subscription.' })),
        },
        { additionalProperties: false },
      ),
      replies: { 200: { description: 'The statistics.', schema: DeliveryStatistics } },
      errors: ['not_found'],
      async handle({ caller, query }) {
        const { window = '24h', subscription_id: subscriptionId = null } = query
        return { status: 200, body: await readStatistics(ctx.db, caller.partnerId, window, subscriptionId) }
      },
    }),
  ]
}
