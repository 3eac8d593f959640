// What a change of a subscription does to its events: a new URL, retry-now, deleting, disabling and enabling, also while they are
// being delivered. Costs about 10 s on each database.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Body } from '../support/client.ts'
import { databaseKind } from '../support/database.ts'
import { eventually, startEndpoint } from '../support/endpoint.ts'
import { details, newPartner, publish, publishMany, subscribe, untilEvent, untilFinished } from '../support/partner.ts'
import { startTestService } from '../support/service.ts'

// A failed delivery waits long enough to be seen waiting.
const service = await startTestService({ after }, { environment: { WEBHOOK_RETRY_SCHEDULE: '1h' } })

test('a new URL is used by the next attempt and shown as delivery_url; what changed of the types holds at once', async (t) => {
  const [before, now] = [await startEndpoint(t), await startEndpoint(t)]
  before.answer = () => 500
  const partner = await newPartner(service)
  const { id } = await subscribe(partner.api, before.url)
  const [eventId] = await publish(service, partner.id)
  const failed = await untilEvent(partner.api, eventId!, (event) => event.delivery_tries === 1)
  assert.deepEqual([failed.state, failed.delivery_url, failed.error_reason], ['pending', before.url, 'http_500'])
  await partner.api.patch(`/webhooks/subscriptions/${id}`, { url: now.url, events: ['order-updated'] })
  assert.equal((await details(partner.api, eventId!)).delivery_url, now.url)
  assert.deepEqual((await partner.api.post(`/webhooks/subscriptions/${id}/retry-now`)).body, { retried: 1 })
  const event = await untilFinished(partner.api, eventId!)
  assert.equal(event.state, 'completed')
  assert.deepEqual(
    event.attempts.map((each: Body) => each.url),
    [before.url, now.url],
  )
  assert.deepEqual(now.received[0]!.body, before.received[0]!.body)
  assert.deepEqual(await publish(service, partner.id), [])
  assert.equal((await publish(service, partner.id, { action: 'order-updated' })).length, 1)
})

test('retry-now brings every waiting retry forward, and refuses a disabled subscription', async (t) => {
  const endpoint = await startEndpoint(t)
  endpoint.answer = () => 503
  const partner = await newPartner(service)
  const { id } = await subscribe(partner.api, endpoint.url)
  const path = `/webhooks/subscriptions/${id}`
  const ids = (await Promise.all([1, 2, 3].map(() => publish(service, partner.id)))).flat()
  for (const each of ids) await untilEvent(partner.api, each, (event) => event.delivery_tries === 1)
  const waiting = await details(partner.api, ids[0]!)
  assert.ok(Date.parse(waiting.next_attempt_at) > Date.now() + 30 * 60_000, 'it waits for most of an hour')
  endpoint.answer = () => 200
  assert.deepEqual((await partner.api.post(`${path}/retry-now`)).body, { retried: 3 })
  for (const each of ids) assert.equal((await untilFinished(partner.api, each)).state, 'completed')
  assert.deepEqual((await partner.api.post(`${path}/retry-now`)).body, { retried: 0 })
  await partner.api.post(`${path}/disable`)
  const refused = await partner.api.post(`${path}/retry-now`)
  assert.equal(refused.status, 409)
  assert.match(refused.body.error_msg, /disabled/)
})

test('deleting turns pending events to error, reason subscription_deleted, before it answers', async (t) => {
  const endpoint = await startEndpoint(t)
  endpoint.answer = () => 500
  const partner = await newPartner(service)
  const { id } = await subscribe(partner.api, endpoint.url)
  const [eventId] = await publish(service, partner.id)
  await untilEvent(partner.api, eventId!, (event) => event.delivery_tries === 1)
  assert.equal((await partner.api.delete(`/webhooks/subscriptions/${id}`)).status, 204)
  const event = await details(partner.api, eventId!)
  assert.deepEqual([event.state, event.error_reason, event.next_attempt_at], ['error', 'subscription_deleted', null])
  assert.equal(event.delivery_url, endpoint.url)
  assert.deepEqual(await publish(service, partner.id), [])
})

test('disabling turns pending events to error, and what matches later is kept in error with 0 tries', async (t) => {
  const endpoint = await startEndpoint(t)
  endpoint.answer = () => 500
  const partner = await newPartner(service)
  const { id } = await subscribe(partner.api, endpoint.url)
  const [tried] = await publish(service, partner.id)
  await untilEvent(partner.api, tried!, (event) => event.delivery_tries === 1)
  const disabled = await partner.api.post(`/webhooks/subscriptions/${id}/disable`)
  assert.deepEqual([disabled.body.state, disabled.body.disabled_reason], ['disabled', 'disabled_by_partner'])
  const given = await untilFinished(partner.api, tried!)
  assert.deepEqual([given.state, given.error_reason, given.delivery_tries], ['error', 'subscription_disabled', 1])
  const [kept] = await publish(service, partner.id)
  const event = await details(partner.api, kept!)
  assert.deepEqual(
    [event.state, event.error_reason, event.delivery_tries, event.last_attempt_at, event.attempts],
    ['error', 'subscription_disabled', 0, null, []],
  )
  endpoint.answer = () => 200
  // Enabled without a replay: what was missed stays as it is, what comes is sent.
  const plain = await partner.api.post(`/webhooks/subscriptions/${id}/enable`, { replay: false })
  assert.deepEqual([plain.body.subscription.state, plain.body.replay], ['enabled', null])
  const [fresh] = await publish(service, partner.id)
  assert.equal((await untilFinished(partner.api, fresh!)).state, 'completed')
  assert.equal((await details(partner.api, kept!)).state, 'error')
  // Enabled with a replay: everything that was kept arrives, and nothing else again.
  const { body } = await partner.api.post(`/webhooks/subscriptions/${id}/enable`, { replay: true })
  assert.equal(body.replay.state, 'running')
  for (const each of [tried!, kept!]) {
    const sent = await untilEvent(partner.api, each, ({ state }) => state === 'completed')
    assert.equal(sent.error_reason, null)
  }
  const progress = async () => (await partner.api.get(`/webhooks/resends/${body.replay.id}`)).body
  await eventually(async () => (await progress()).state === 'completed', 'the replay to end')
  assert.deepEqual([(await progress()).resent, (await progress()).skipped], [2, 0])
  assert.equal((await details(partner.api, fresh!)).delivery_tries, 1)
})

test('a subscription can be deleted or disabled while its events are being delivered, and none stays pending', async (t) => {
  const endpoint = await startEndpoint(t)
  endpoint.answer = ({ event }) => (event.id.charCodeAt(20) % 2 ? 200 : 500)
  const partner = await newPartner(service)
  for (const how of ['delete', 'disable']) {
    for (let round = 0; round < 3; round++) {
      const { id } = await subscribe(partner.api, endpoint.url)
      const before = endpoint.received.length
      const ids = await publishMany(service, partner.id, 400)
      const late = Array.from({ length: 20 }, () => publish(service, partner.id))
      await endpoint.until(before + 20 + 40 * round)
      const path = `/webhooks/subscriptions/${id}`
      const { status, text } = await (how === 'delete' ? partner.api.delete(path) : partner.api.post(`${path}/disable`))
      assert.ok(status < 300, text)
      const later = Array.from({ length: 20 }, () => publish(service, partner.id))
      await Promise.all([...late, ...later])
      const pending = async () =>
        (await partner.api.get(`/webhooks/events?state=pending&subscription_id=${id}`)).body.events.length
      await eventually(async () => (await pending()) === 0, 'nothing to be pending')
      assert.equal(ids.length, 400)
      if (how === 'disable') await partner.api.delete(path)
    }
  }
})

// The embedded database has one connection, where nothing waits for another.
if (databaseKind === 'postgres') {
  test('whatever a partner asks for while its events are being settled is done, whatever waits for whatever', async (t) => {
    const quick = await startTestService(t, { environment: { WEBHOOK_RETRY_SCHEDULE: '50ms,50ms,50ms,1s' } })
    const endpoint = await startEndpoint(t)
    endpoint.answer = ({ event }) => (event.id.charCodeAt(20) % 2 ? 200 : 500)
    const { api, id: partnerId } = await newPartner(quick)
    for (let round = 0; round < 4; round++) {
      const { id } = await subscribe(api, endpoint.url)
      const path = `/webhooks/subscriptions/${id}`
      const before = endpoint.received.length
      await publishMany(quick, partnerId, 1_000)
      await endpoint.until(before + 200)
      const asked = await Promise.all([
        ...Array.from({ length: 10 }, () => api.post(`${path}/retry-now`)),
        ...Array.from({ length: 5 }, () => api.post('/webhooks/events/resend', { subscription_id: id })),
        ...Array.from({ length: 5 }, () => api.patch(path, { url: `${endpoint.url}/${round}` })),
      ])
      asked.push(await api.delete(path))
      assert.deepEqual(
        asked.map(({ status }) => status).filter((status) => status >= 300),
        [],
      )
    }
    const pending = async () => (await api.get('/webhooks/events?state=pending&limit=1')).body.events.length
    await eventually(async () => (await pending()) === 0, 'nothing to be pending')
  })
}
