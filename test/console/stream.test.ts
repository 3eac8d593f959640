// The live stream: whoever follows is told of every event, attempt and order of its own, what its key may see and nothing else, and
// for no longer than the key or session holds.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { signIn, withCookie } from '../support/browser.ts'
import type { Body } from '../support/client.ts'
import { eventually, startEndpoint } from '../support/endpoint.ts'
import { createOrder, newOrderPartner } from '../support/orders.ts'
import { details, newKey, newPartner, publish, publishMany, subscribe } from '../support/partner.ts'
import { rawRequest } from '../support/raw-http.ts'
import { startTestService } from '../support/service.ts'
import { follow, followFromNow, type Told } from '../support/stream.ts'

const service = await startTestService({ after }, { environment: { WEBHOOK_RETRY_SCHEDULE: '1h' } })
const { partner, operator, demoSecret, demoPartnerId } = service
const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` })
const about =
  (id: string, more: (data: Body) => boolean = () => true) =>
  ({ data }: Told) =>
    (data.id === id || data.event_id === id) && more(data)

test('an event is told when it is created and when its state changes, as search shows it; each attempt, too', async (t) => {
  const own = await newPartner(service)
  const endpoint = await startEndpoint(t)
  let [held, release] = [Promise.resolve(), () => {}]
  const hold = () => {
    held = new Promise<void>((resolve) => {
      release = resolve
    })
  }
  hold()
  let status = 500
  endpoint.answer = async () => {
    await held
    return status
  }
  const subscription = await subscribe(own.api, endpoint.url)
  const stream = await followFromNow(t, service.url, bearer(own.secret))
  assert.match(stream.response.headers['content-type']!, /^text\/event-stream/)
  const [id] = await publish(service, own.id)
  const created = await stream.until('the new event', about(id!))
  assert.deepEqual([created.event, created.data.state, created.data.delivery_tries], ['webhook_event', 'pending', 0])
  release()
  const attempt = await stream.until(
    'the attempt',
    about(id!, (data) => data.number === 1),
  )
  const { duration_ms, at, ...rest } = attempt.data
  assert.equal(attempt.event, 'attempt')
  assert.deepEqual(rest, { event_id: id, subscription_id: subscription.id, number: 1, status: 500, error_kind: null })
  const { attempts, payload, ...shown } = await details(own.api, id!)
  assert.deepEqual([attempts[0].at, attempts[0].duration_ms], [at, duration_ms])
  const changed = await stream.until(
    'the change',
    about(id!, (data) => data.delivery_tries === 1),
  )
  assert.deepEqual(changed.data, shown)

  status = 200
  assert.equal((await own.api.post(`/webhooks/subscriptions/${subscription.id}/retry-now`)).status, 200)
  await stream.until(
    'the delivery',
    about(id!, (data) => data.state === 'completed'),
  )
  hold()
  assert.equal((await own.api.post(`/webhooks/events/${id}/resend`)).status, 200)
  const last = () => stream.told.findLast(({ event, data }) => event === 'webhook_event' && data.id === id)!.data.state
  await eventually(() => last() === 'pending', 'it to be pending again')
  release()
  await stream.until(
    'the resend',
    about(id!, (data) => data.number === 3),
  )
  await eventually(() => last() === 'completed', 'it to be completed again')
  assert.ok(payload)
})

test('orders are told with every change, to those who may read orders', async (t) => {
  const payer = await newOrderPartner(service)
  const both = await newKey(service, payer.id, ['webhooks:read', 'orders:read'])
  const less = await newKey(service, payer.id, ['webhooks:read'])
  const stream = await followFromNow(t, service.url, bearer(both.secret))
  const blind = await followFromNow(t, service.url, bearer(less.secret))
  await subscribe(payer.api, 'https://localhost:1/hook', { events: ['partner-order-created'] })
  const order = await createOrder(payer)
  const created = await stream.until('the order', about(order.id))
  assert.deepEqual(created, {
    event: 'order',
    data: { id: order.id, state: 'awaiting_confirmation', state_reason: null, last_updated_at: order.last_updated_at },
  })
  await payer.api.post(`/partner/orders/${order.id}/cancel`)
  const closed = await stream.until(
    'its end',
    about(order.id, (data) => data.state === 'cancelled'),
  )
  assert.equal(closed.data.state_reason, 'cancelled_by_partner')
  await blind.until(
    'the event of the order',
    ({ event, data }) => event === 'webhook_event' && data.resource_id === order.id,
  )
  assert.ok(!blind.told.some(({ event }) => event === 'order'))
})

test('an order that expires is told, too', async (t) => {
  const brief = await startTestService(t, { environment: { ORDER_CONFIRMATION_WINDOW: '1s' } })
  const payer = await newOrderPartner(brief)
  const { secret } = await newKey(brief, payer.id, ['webhooks:read', 'orders:read'])
  const stream = await followFromNow(t, brief.url, bearer(secret))
  const order = await createOrder(payer)
  const closed = await stream.until(
    'its end',
    about(order.id, (data) => data.state === 'cancelled'),
  )
  assert.equal(closed.data.state_reason, 'expired')
})

test('nobody is told anything of another partner', async (t) => {
  const [own, other] = [await newPartner(service), await newPartner(service)]
  for (const { api } of [own, other]) await subscribe(api, 'https://localhost:1/hook')
  const mine = await followFromNow(t, service.url, bearer(own.secret))
  const theirs = await followFromNow(t, service.url, bearer(other.secret))
  const [first] = await publish(service, other.id)
  const [second] = await publish(service, own.id)
  await theirs.until('their event', about(first!))
  await mine.until('my event', about(second!))
  assert.ok(!mine.text().includes(first!) && !mine.text().includes(other.id))
})

test('more than fits is told as one reset', async (t) => {
  const own = await newPartner(service)
  const { id } = await subscribe(own.api, 'https://localhost:1/hook')
  await own.api.post(`/webhooks/subscriptions/${id}/disable`)
  const stream = await followFromNow(t, service.url, bearer(own.secret))
  await sleep(2_000) // whatever else may be a reason for a reset is over by then
  const before = stream.told.length
  const many = new Set(await publishMany(service, own.id, 300))
  await eventually(() => stream.told.length > before, 'the reset')
  const [marker] = await publish(service, own.id)
  await stream.until('the one that came alone', about(marker!))
  const told = stream.told.slice(before)
  assert.equal(told[0]!.event, 'reset')
  assert.ok(!told.some(({ data }) => many.has(data.id)))
})

test('a session follows like its key, and its stream ends when it is signed out', async (t) => {
  const browser = await signIn(partner, { secret: demoSecret })
  const stream = await followFromNow(t, service.url, { cookie: browser.cookie })
  const other = await followFromNow(t, service.url, bearer(demoSecret))
  await withCookie(partner, browser.cookie).delete('/console/session')
  await eventually(() => stream.isEnded(), 'its end')
  assert.ok(!other.isEnded(), 'the key itself goes on')
})

test('a stream ends when its key is revoked, its partner suspended, or its key expires', async (t) => {
  const made = (await operator.post('/partners', { name: 'Ending' })).body
  const revoked = await newKey(service, made.id, ['webhooks:read'])
  const kept = await newKey(service, made.id, ['webhooks:read'])
  const wanted = { name: 'brief', scopes: ['webhooks:read'], expires_at: new Date(Date.now() + 3_000).toISOString() }
  const { body: brief } = await operator.post(`/partners/${made.id}/keys`, wanted)
  const streams = {
    revoked: await followFromNow(t, service.url, bearer(revoked.secret)),
    kept: await followFromNow(t, service.url, bearer(kept.secret)),
    brief: await followFromNow(t, service.url, bearer(brief.secret)),
  }
  await operator.delete(`/partners/${made.id}/keys/${revoked.id}`)
  await eventually(() => streams.revoked.isEnded(), 'the end of the revoked one')
  await eventually(() => streams.brief.isEnded(), 'the end of the expired one')
  assert.ok(!streams.kept.isEnded())
  await operator.patch(`/partners/${made.id}`, { state: 'suspended' })
  await eventually(() => streams.kept.isEnded(), 'the end of the suspended one')
})

test('a key can have ten streams; what is left makes room', async (t) => {
  const { secret } = await newKey(service, demoPartnerId, ['webhooks:read'])
  const streams = []
  for (let i = 0; i < 10; i++) streams.push(await follow(t, service.url, bearer(secret)))
  for (const { response } of streams) assert.equal(response.statusCode, 200)
  const refused = await follow(t, service.url, bearer(secret))
  assert.equal(refused.response.statusCode, 429)
  assert.match(String(refused.response.headers['retry-after']), /^\d+$/)
  await eventually(() => refused.isEnded(), 'the end of the refusal')
  assert.equal(JSON.parse(refused.text()).error_code, 'too_many_requests')
  streams[0]!.leave()
  await eventually(async () => {
    const next = await follow(t, service.url, bearer(secret))
    const { statusCode } = next.response
    if (statusCode !== 200) next.leave()
    return statusCode === 200
  }, 'room for another')
})

test('asking for its head opens no stream', async () => {
  const { secret } = await newKey(service, demoPartnerId, ['webhooks:read'])
  for (let i = 0; i < 15; i++) {
    const { status } = await rawRequest(`${service.url}/v1/stream`, { method: 'HEAD', headers: bearer(secret) })
    assert.equal(status, 200)
  }
})

test('a stop does not wait for streams', async (t) => {
  const stopping = await startTestService(t)
  const stream = await followFromNow(t, stopping.url, bearer(stopping.demoSecret))
  await stopping.stop()
  await eventually(() => stream.isEnded(), 'its end')
  assert.ok(stream.response.complete, 'it was ended, not cut off when the stop lost its patience')
})
