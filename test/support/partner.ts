// Partners of their own for tests that share a service, and what tests of webhooks do again and again with them.
import assert from 'node:assert/strict'
import { catalogue } from '../../src/webhooks/catalogue.ts'
import { type ApiClient, type Body, clientOf } from './client.ts'
import { eventually } from './endpoint.ts'
import type { TestService } from './service.ts'

type Operated = Pick<TestService, 'partner' | 'operator'>

export interface TestPartner {
  readonly id: string
  readonly api: ApiClient
  readonly secret: string
}

export async function newPartner(service: Operated, name = 'Somebody'): Promise<TestPartner> {
  const { body: partner } = await service.operator.post('/partners', { name })
  const { secret, api } = await newKey(service, partner.id, ['webhooks:read', 'webhooks:write'])
  return { id: partner.id, api, secret }
}

export async function newKey(service: Operated, partnerId: string, scopes: readonly string[]) {
  const reply = await service.operator.post(`/partners/${partnerId}/keys`, { name: 'test', scopes })
  assert.equal(reply.status, 201, reply.text)
  return {
    id: reply.body.id as string,
    secret: reply.body.secret as string,
    api: as(service.partner, reply.body.secret),
  }
}

// The same client, with another's credential.
export function as(client: ApiClient, token: string): ApiClient {
  const call: ApiClient['call'] = (method, path, options) => client.call(method, path, { token, ...options })
  return clientOf(client.url, call)
}

export async function subscribe(api: ApiClient, url: string, more: Record<string, unknown> = {}): Promise<Body> {
  const reply = await api.post('/webhooks/subscriptions', { url, events: ['order-closed'], ...more })
  assert.equal(reply.status, 201, reply.text)
  return reply.body
}

let published = 0
// Publishes an order-closed event, or what is given instead; returns the ids of the events made of it.
export async function publish(
  service: Operated,
  partnerId: string,
  { action = 'order-closed', ...entities }: { action?: keyof typeof catalogue; [entity: string]: unknown } = {},
): Promise<string[]> {
  const reply = await service.operator.post('/events', {
    partner_id: partnerId,
    id: `test-${++published}`,
    action,
    ...catalogue[action].example,
    ...entities,
  })
  assert.equal(reply.status, 201, reply.text)
  return reply.body.event_ids
}

// Many at once, in batches; ids of the events, in the order of publication.
export async function publishMany(
  service: Operated,
  partnerId: string,
  count: number,
  action: keyof typeof catalogue = 'order-closed',
): Promise<string[]> {
  const ids: string[] = []
  for (let done = 0; done < count; done += 1_000) {
    const reply = await service.operator.post('/events', {
      events: Array.from({ length: Math.min(1_000, count - done) }, () => ({
        partner_id: partnerId,
        id: `test-${++published}`,
        action,
        ...catalogue[action].example,
      })),
    })
    assert.equal(reply.status, 201, reply.text)
    ids.push(...reply.body.events.flatMap((each: Body) => each.event_ids))
  }
  return ids
}

export async function details(api: ApiClient, eventId: string): Promise<Body> {
  const reply = await api.get(`/webhooks/events/${eventId}`)
  assert.equal(reply.status, 200, reply.text)
  return reply.body
}

// Waits until the event is what it is to become.
export async function untilEvent(api: ApiClient, eventId: string, want: (event: Body) => boolean): Promise<Body> {
  let event: Body
  const look = async () => {
    event = await details(api, eventId)
    return want(event)
  }
  await eventually(look, 'the event').catch((error: Error) => {
    throw new Error(`${error.message}; it is ${JSON.stringify(event)}`)
  })
  return event
}

export function untilFinished(api: ApiClient, eventId: string): Promise<Body> {
  return untilEvent(api, eventId, (event) => event.state !== 'pending')
}
