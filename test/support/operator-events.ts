// A service to publish at, and what its publishers say: tests of POST /operator/v1/events begin with this.
import { after } from 'node:test'
import type { ApiClient } from './client.ts'
import { startTestService } from './service.ts'

export const order = { id: 'o-1', state: 'completed', operation: 'buy' }

// The body of one publication: an order that was closed, or what is given instead.
export function one(partnerId: string, id: string, more: Record<string, unknown> = {}) {
  return { partner_id: partnerId, id, action: 'order-closed', order, ...more }
}

export async function startForPublishers() {
  const service = await startTestService({ after })
  return { service, post: (body: unknown) => service.operator.post('/events', body) }
}

export async function countEvents(api: ApiClient): Promise<number> {
  return (await api.get('/webhooks/events?limit=100')).body.events.length
}
