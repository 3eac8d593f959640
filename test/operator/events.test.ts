// POST /operator/v1/events: what the platform publishes, to the byte, once for each id. What is refused is in
// event-schemas.test.ts. Costs about 8 s on each database.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { actions, catalogue } from '../../src/webhooks/catalogue.ts'
import type { Body } from '../support/client.ts'
import { startEndpoint } from '../support/endpoint.ts'
import { countEvents, one, order, startForPublishers } from '../support/operator-events.ts'
import { details, newKey, newPartner, subscribe } from '../support/partner.ts'

const { service, post } = await startForPublishers()

test('publishing to three matching subscriptions makes three events with one publication_id', async (t) => {
  const endpoint = await startEndpoint(t)
  const partner = await newPartner(service)
  const subscriptions = []
  for (let i = 0; i < 3; i++) subscriptions.push(await subscribe(partner.api, `${endpoint.url}/${i}`))
  await subscribe(partner.api, `${endpoint.url}/other`, { events: ['order-updated'] })
  const { status, body } = await post(one(partner.id, 'three'))
  assert.equal(status, 201)
  assert.deepEqual(Object.keys(body), ['id', 'publication_id', 'event_ids'])
  assert.equal(body.id, 'three')
  assert.match(body.publication_id, /^pub_[0-9a-z]{26}$/)
  assert.equal(new Set(body.event_ids).size, 3)
  const received = await endpoint.until(3)
  assert.deepEqual(new Set(received.map((each) => each.path)), new Set(['/hook/0', '/hook/1', '/hook/2']))
  assert.deepEqual(new Set(received.map((each) => each.event.id)), new Set(body.event_ids))
  const events = await Promise.all(body.event_ids.map((id: string) => details(partner.api, id)))
  assert.deepEqual(new Set(events.map((each) => each.publication_id)), new Set([body.publication_id]))
  assert.deepEqual(new Set(events.map((each) => each.subscription_id)), new Set(subscriptions.map((each) => each.id)))
})

test('an event is exactly id, action, created_at and the entity, in that order', async (t) => {
  const endpoint = await startEndpoint(t)
  const partner = await newPartner(service)
  await subscribe(partner.api, endpoint.url, { events: [...actions] })
  for (const action of actions) {
    const { status, text, body } = await post({
      partner_id: partner.id,
      id: action,
      action,
      ...catalogue[action].example,
    })
    assert.equal(status, 201, text)
    assert.equal(body.event_ids.length, 1)
  }
  for (const { event } of await endpoint.until(actions.length)) {
    const { id, action, created_at, ...entities } = event
    assert.deepEqual(Object.keys(event).slice(0, 3), ['id', 'action', 'created_at'])
    assert.match(id, /^evt_[0-9a-z]{26}$/)
    assert.match(created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00$/)
    assert.deepEqual(entities, catalogue[action as keyof typeof catalogue].example)
    const about = Object.values(entities)[0] as Body
    assert.equal((await details(partner.api, id)).resource_id, about.transaction_hash ?? about.id)
  }
})

test('further members pass through byte for byte, numbers and escapes included', async (t) => {
  const endpoint = await startEndpoint(t)
  const partner = await newPartner(service)
  await subscribe(partner.api, endpoint.url)
  const entity =
    '{"id":"o-exact", "state":"completed","operation":"buy","fee":1.10,"big":12345678901234567890,"exp":1e3,"zero":-0.0,' +
    '"tiny":1E-400,"long":0.1000000000000000055511151231257827,"text":"\\u00e9\\/é€😀\\ud83d\\ude00\\"","2":"two","1":"one",' +
    '"list":[ 1.0 , [ ] , { } ,"a b"],"empty":{},"yes":true,"none":null}'
  const single = `{"partner_id":"${partner.id}","id":"exact","action":"order-closed","order":${entity}}`
  const batch = ` { "events" : [ {"order" : ${entity} , "action":"order-closed", "partner_id":"${partner.id}","id":"exact-2"} ] }`
  for (const request of [single, batch]) assert.equal((await post(request)).status, 201)
  for (const { body, event } of await endpoint.until(2)) {
    const sent = body.toString()
    assert.equal(
      sent,
      `{"id":"${event.id}","action":"order-closed","created_at":"${event.created_at}","order":${entity}}`,
    )
    assert.ok((await partner.api.get(`/webhooks/events/${event.id}`)).text.includes(`"payload":${sent},"attempts":[`))
  }
})

test('a batch takes 1,000 events and no more, and publishes all or none', async () => {
  const partner = await newPartner(service)
  await subscribe(partner.api, 'https://localhost:9/never')
  const events = Array.from({ length: 1_000 }, (_, i) => one(partner.id, `batch-${i}`))
  const tooMany = await post({ events: [...events, one(partner.id, 'one-too-many')] })
  assert.equal(tooMany.status, 400)
  assert.equal(tooMany.body.error_msg, 'events must NOT have more than 1000 items.')
  for (const bad of [one('ptr_unknown', 'x'), one(partner.id, 'x', { order: {} }), one(partner.id, 'batch-0')]) {
    assert.ok((await post({ events: [...events.slice(1), events[0], bad].slice(-1_000) })).status >= 400)
  }
  assert.equal(await countEvents(partner.api), 0, 'a batch with one bad event publishes nothing')
  const all = await post({ events })
  assert.equal(all.status, 201)
  assert.deepEqual(
    all.body.events.map((each: Body) => each.id),
    events.map((each) => each.id),
  )
  assert.equal(new Set(all.body.events.flatMap((each: Body) => each.event_ids)).size, 1_000)
  const repeated = await post({ events: [events[5], events[6], events[5]] })
  assert.equal(repeated.status, 400)
  assert.equal(repeated.body.error_msg, 'events[2].id repeats the id of another event in this request.')
})

test('an entity of more than 256 KiB is refused, counted in bytes', async () => {
  const partner = await newPartner(service)
  const sized = (filler: string) => one(partner.id, `size-${filler.length}`, { order: { ...order, filler } })
  assert.equal((await post(sized('x'.repeat(255 * 1024)))).status, 201)
  for (const filler of ['x'.repeat(256 * 1024), '€'.repeat(90 * 1024)]) {
    const { status, body } = await post(sized(filler))
    assert.equal(status, 413)
    assert.deepEqual(body, { error_code: 'payload_too_large', error_msg: 'order-closed carries more than 256 KiB.' })
    const inBatch = await post({ events: [one(partner.id, 'small'), sized(filler)] })
    assert.equal(inBatch.status, 413)
    assert.equal(inBatch.body.error_msg, 'events[1].order-closed carries more than 256 KiB.')
  }
})

test('only an admin publishes, and no partner key does', async () => {
  const { body: token } = await service.operator.post('/tokens', { name: 'reader', roles: ['read', 'support'] })
  const refused = await service.operator.post('/events', one(service.demoPartnerId, 'x'), { token: token.secret })
  assert.equal(refused.status, 403)
  const { secret } = await newKey(service, service.demoPartnerId, ['webhooks:write'])
  assert.equal((await service.operator.post('/events', one(service.demoPartnerId, 'x'), { token: secret })).status, 401)
  assert.equal((await service.partner.post('/events', one(service.demoPartnerId, 'x'))).status, 404)
})

test('the sandbox publishes an example, or what the partner writes, byte for byte', async (t) => {
  const endpoint = await startEndpoint(t)
  const partner = await newPartner(service)
  await subscribe(partner.api, endpoint.url)
  assert.equal((await partner.api.post('/sandbox/events', { action: 'order-closed' })).status, 201)
  assert.deepEqual((await endpoint.until(1))[0]!.event.order, catalogue['order-closed'].example.order)
  const own = '{"id":"mine","state":"x","operation":"y","amount":2.50}'
  assert.equal((await partner.api.post('/sandbox/events', `{"action":"order-closed","order":${own}}`)).status, 201)
  assert.ok((await endpoint.until(2))[1]!.body.toString().endsWith(`"order":${own}}`))
})
