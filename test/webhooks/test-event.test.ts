// POST …/test: one signed event at once, and what the endpoint answered. Costs about 4 s on each database.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, test } from 'node:test'
import { createRemoteJWKSet, jwtVerify } from 'jose'
import { startEndpoint } from '../support/endpoint.ts'
import { newPartner, subscribe } from '../support/partner.ts'
import { freePort } from '../support/postgres.ts'
import { startTestService } from '../support/service.ts'

const service = await startTestService({ after }, { environment: { WEBHOOK_TIMEOUT: '3s' } })
const partner = await newPartner(service)
const send = async (id: string) => {
  const { status, body } = await partner.api.post(`/webhooks/subscriptions/${id}/test`)
  assert.equal(status, 200)
  assert.deepEqual(Object.keys(body), [
    'event',
    'headers',
    'delivered',
    'status',
    'error_kind',
    'error_detail',
    'duration_ms',
    'response_body',
  ])
  return body
}

test('a test event is exactly id, action and created_at, signed like any other, and not stored', async (t) => {
  const endpoint = await startEndpoint(t)
  endpoint.answer = () => ({ status: 202, body: 'thanks' })
  const { id } = await subscribe(partner.api, endpoint.url, { events: ['incoming-funds'] })
  const result = await send(id)
  const [received] = endpoint.received
  assert.deepEqual(received!.event, result.event)
  assert.deepEqual(Object.keys(received!.event), ['id', 'action', 'created_at'])
  assert.equal(received!.event.action, 'test')
  assert.match(received!.event.created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00$/)
  assert.deepEqual(
    [result.delivered, result.status, result.error_kind, result.error_detail, result.response_body],
    [true, 202, null, null, 'thanks'],
  )
  assert.ok(Number.isInteger(result.duration_ms) && result.duration_ms >= 0)
  assert.equal(received!.headers['content-type'], 'application/json')
  assert.equal(received!.headers['x-event-type'], 'test')
  assert.equal(received!.headers['x-event-id'], result.event.id)
  for (const [name, value] of Object.entries(result.headers)) assert.equal(received!.headers[name], value, name)
  assert.ok(result.headers['x-jwt-signature'])
  const keys = createRemoteJWKSet(new URL(`${service.url}/.well-known/jwks.json`))
  const { payload } = await jwtVerify(received!.headers['x-jwt-signature'] as string, keys, { audience: id })
  assert.equal(payload.sub, result.event.id)
  assert.equal(payload.digest, createHash('sha256').update(received!.body).digest('hex'))
  assert.equal((await partner.api.get(`/webhooks/events/${result.event.id}`)).status, 404)
  assert.deepEqual((await partner.api.get('/webhooks/events')).body.events, [])
})

test('a failure is shown with the endpoint’s own answer, and is not tried again', async (t) => {
  const endpoint = await startEndpoint(t)
  const { id } = await subscribe(partner.api, endpoint.url)
  endpoint.answer = () => ({ status: 500, body: '{"why":"broken"}' })
  const broken = await send(id)
  assert.deepEqual([broken.delivered, broken.status, broken.response_body], [false, 500, '{"why":"broken"}'])
  endpoint.answer = () => ({ status: 302, headers: { location: 'https://example.com/' } })
  const redirected = await send(id)
  assert.deepEqual([redirected.delivered, redirected.status], [false, 302])
  endpoint.answer = () => ({ status: 410 })
  assert.equal((await send(id)).status, 410)
  assert.equal(
    (await partner.api.get(`/webhooks/subscriptions/${id}`)).body.state,
    'enabled',
    'a test disables nothing',
  )
  assert.equal(endpoint.received.length, 3)
})

test('a long answer is shown up to 16 KiB, and bytes that are no text do not break it', async (t) => {
  const endpoint = await startEndpoint(t)
  const { id } = await subscribe(partner.api, endpoint.url)
  endpoint.answer = () => ({ status: 200, body: 'x'.repeat(100_000) })
  assert.equal((await send(id)).response_body, 'x'.repeat(16 * 1024))
  endpoint.answer = () => (response) => response.writeHead(200).end(Buffer.from([0, 0xff, 0xfe, 0x80, 0x41]))
  const binary = await send(id)
  assert.deepEqual([binary.delivered, binary.response_body], [true, '\0\ufffd\ufffd\ufffdA'])
})

test('an endpoint that does not answer in time, or is not there, is named as such', async (t) => {
  const endpoint = await startEndpoint(t)
  endpoint.answer = () => () => {}
  const { id } = await subscribe(partner.api, endpoint.url)
  const late = await send(id)
  assert.deepEqual([late.delivered, late.status, late.error_kind, late.response_body], [false, null, 'timeout', null])
  const nobody = await subscribe(partner.api, `https://localhost:${await freePort()}/`)
  const refused = await send(nobody.id)
  assert.deepEqual([refused.delivered, refused.status, refused.error_kind], [false, null, 'connect'])
  const unknown = await subscribe(partner.api, 'https://nowhere.invalid/')
  assert.equal((await send(unknown.id)).error_kind, 'dns')
})

test('a disabled subscription can be tested too', async (t) => {
  const endpoint = await startEndpoint(t)
  const { id } = await subscribe(partner.api, endpoint.url)
  await partner.api.post(`/webhooks/subscriptions/${id}/disable`)
  assert.equal((await send(id)).delivered, true)
})
