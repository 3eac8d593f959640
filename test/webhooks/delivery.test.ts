// From publishing to a verified delivery.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, test } from 'node:test'
import { createRemoteJWKSet, jwtVerify } from 'jose'
import { eventually, startEndpoint } from '../support/endpoint.ts'
import { startTestService } from '../support/service.ts'

const service = await startTestService({ after })

test('a published event arrives once, signed, with the bytes that search shows', async (t) => {
  const endpoint = await startEndpoint(t)
  const { body: subscription } = await service.partner.post('/webhooks/subscriptions', {
    url: endpoint.url,
    events: ['order-closed'],
  })
  const published = await service.operator.post('/events', {
    partner_id: service.demoPartnerId,
    id: 'first',
    action: 'order-closed',
    order: { id: 'o-1', state: 'completed', operation: 'buy', extra: { kept: [1, 2] } },
  })
  assert.equal(published.status, 201, published.text)
  assert.equal(published.body.event_ids.length, 1)
  const [received] = await endpoint.until(1)
  assert.equal(received!.event.id, published.body.event_ids[0])
  assert.deepEqual(received!.event.order.extra, { kept: [1, 2] })
  const keys = createRemoteJWKSet(new URL(`${service.url}/.well-known/jwks.json`))
  const { payload } = await jwtVerify(received!.headers['x-jwt-signature'] as string, keys, {
    audience: subscription.id,
  })
  assert.equal(payload.digest, createHash('sha256').update(received!.body).digest('hex'))
  const details = async () => (await service.partner.get(`/webhooks/events/${received!.event.id}`)).body
  await eventually(async () => (await details()).state === 'completed', 'the event to be completed')
  assert.equal((await details()).attempts.length, 1)
})

test('a failed delivery is retried until it succeeds', async (t) => {
  const endpoint = await startEndpoint(t)
  let failures = 2
  endpoint.answer = () => (failures-- > 0 ? 500 : 200)
  const quick = await startTestService(t, { environment: { WEBHOOK_RETRY_SCHEDULE: '50ms,50ms,50ms' } })
  await quick.partner.post('/webhooks/subscriptions', { url: endpoint.url, events: ['order-closed'] })
  await quick.partner.post('/sandbox/events', { action: 'order-closed' })
  const received = await endpoint.until(3)
  assert.equal(new Set(received.map((each) => each.body.toString())).size, 1)
  assert.deepEqual(
    received.map((each) => each.headers['x-attempt-number']),
    ['1', '2', '3'],
  )
})
