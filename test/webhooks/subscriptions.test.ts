// Sections 2.2 and 4.2 field by field, and what else can be done with a subscription. What URLs are refused is in
// target.test.ts. Costs about 8 s on each database.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { ApiClient, Body } from '../support/client.ts'
import { databaseKind } from '../support/database.ts'
import { eventually, startEndpoint } from '../support/endpoint.ts'
import {
  details,
  newKey,
  newPartner,
  publish,
  publishMany,
  subscribe,
  untilEvent,
  untilFinished,
} from '../support/partner.ts'
import { startTestService } from '../support/service.ts'

// A failed delivery waits long enough to be seen waiting.
const service = await startTestService({ after }, { environment: { WEBHOOK_RETRY_SCHEDULE: '1h' } })
const somewhere = { url: 'https://example.com/hook', events: ['order-closed', 'incoming-funds'] }
const notFound = { error_code: 'not_found', error_msg: 'There is no such subscription.' }
const fields = ['id', 'url', 'events', 'created_at', 'state', 'disabled_reason', 'description', 'rate_limit_per_second']

test('a subscription has every field of the specification, in the form it names', async () => {
  const { api } = await newPartner(service)
  const { status, body } = await api.post('/webhooks/subscriptions', somewhere)
  assert.equal(status, 201)
  assert.deepEqual(Object.keys(body), fields)
  assert.match(body.id, /^sub_[0-9a-z]{26}$/)
  assert.equal(body.url, somewhere.url)
  assert.deepEqual(body.events, somewhere.events)
  assert.match(body.created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
  assert.ok(Math.abs(Date.parse(body.created_at) - Date.now()) < 60_000)
  assert.deepEqual(
    [body.state, body.disabled_reason, body.description, body.rate_limit_per_second],
    ['enabled', null, '', null],
  )
  const { body: again } = await api.get(`/webhooks/subscriptions/${body.id}`)
  assert.deepEqual(again, body)
  const withMore = { ...somewhere, description: 'ours', rate_limit_per_second: 25 }
  const { body: more } = await api.post('/webhooks/subscriptions', withMore)
  assert.deepEqual([more.description, more.rate_limit_per_second], ['ours', 25])
})

test('the body may be one subscription or a list, of which all or none are made', async () => {
  const { api } = await newPartner(service)
  const list = [somewhere, { ...somewhere, url: 'https://example.com/2' }]
  const { status, body } = await api.post('/webhooks/subscriptions', { subscriptions: list })
  assert.equal(status, 201)
  assert.deepEqual(Object.keys(body), ['subscriptions'])
  assert.deepEqual(
    body.subscriptions.map((each: Body) => each.url),
    list.map((each) => each.url),
  )
  for (const each of body.subscriptions) assert.deepEqual(Object.keys(each), fields)
  for (const bad of [{ ...somewhere, events: [] }, { ...somewhere, url: 'http://example.com/' }, {}]) {
    const refused = await api.post('/webhooks/subscriptions', { subscriptions: [...list, bad] })
    assert.equal(refused.status, 400)
    assert.match(refused.body.error_msg, /^subscriptions\[2\]\./)
  }
  for (const body of [{ subscriptions: [] }, { subscriptions: list, url: somewhere.url }, [somewhere], 'x', null, {}]) {
    assert.equal((await api.post('/webhooks/subscriptions', body === 'x' ? '"x"' : JSON.stringify(body))).status, 400)
  }
  const unknown = await api.post('/webhooks/subscriptions', { ...somewhere, secret: 'x' })
  assert.equal(unknown.body.error_msg, 'secret is not a known field.')
  for (const rate of [0, -1, 1.5, 1_001, '5']) {
    const { status, body } = await api.post('/webhooks/subscriptions', { ...somewhere, rate_limit_per_second: rate })
    assert.equal(status, 400)
    assert.match(body.error_msg, /^rate_limit_per_second /)
  }
  assert.equal((await api.get('/webhooks/subscriptions')).body.subscriptions.length, 2)
})

test('the list is newest first, in pages, and without what was deleted', async () => {
  const { api } = await newPartner(service)
  const ids: string[] = []
  for (let i = 0; i < 5; i++) ids.unshift((await subscribe(api, somewhere.url)).id)
  const seen: string[] = []
  let cursor = ''
  for (let page = 0; page < 3; page++) {
    const { body } = await api.get(`/webhooks/subscriptions?limit=2${cursor}`)
    assert.deepEqual(Object.keys(body), ['subscriptions', 'next_cursor'])
    seen.push(...body.subscriptions.map((each: Body) => each.id))
    cursor = `&cursor=${body.next_cursor}`
    assert.equal(body.next_cursor === null, page === 2)
  }
  // Ids of one millisecond have no order of their own.
  assert.deepEqual(seen, [...ids].sort().reverse())
  assert.equal((await api.delete(`/webhooks/subscriptions/${ids[1]}`)).status, 204)
  const { body } = await api.get('/webhooks/subscriptions')
  assert.equal(body.subscriptions.length, 4)
  assert.ok(!body.subscriptions.some((each: Body) => each.id === ids[1]))
})

test('a change keeps what it does not name', async () => {
  const { api } = await newPartner(service)
  const { id, ...before } = await subscribe(api, somewhere.url, { description: 'a', rate_limit_per_second: 5 })
  const path = `/webhooks/subscriptions/${id}`
  const changes: Record<string, unknown>[] = [
    { url: 'https://example.com/new' },
    { events: ['customer-state-changed'] },
    { description: '' },
    { rate_limit_per_second: null },
    { state: 'disabled' },
    { state: 'enabled', description: 'b' },
  ]
  let expected = { id, ...before }
  for (const change of changes) {
    const { status, body } = await api.patch(path, change)
    assert.equal(status, 200)
    const reason = change.state === 'disabled' ? { disabled_reason: 'disabled_by_partner' } : {}
    expected = { ...expected, disabled_reason: null, ...change, ...reason }
    assert.deepEqual(body, expected)
    assert.deepEqual((await api.get(path)).body, expected)
  }
  for (const change of [
    {},
    { id: 'x' },
    { created_at: 'x' },
    { state: 'gone' },
    { events: [] },
    { description: null },
  ]) {
    assert.equal((await api.patch(path, change)).status, 400)
  }
  assert.deepEqual((await api.get(path)).body, expected)
})

test('another’s subscription looks exactly like one that does not exist, to every operation', async () => {
  const [mine, theirs] = [await newPartner(service), await newPartner(service)]
  const { id } = await subscribe(theirs.api, somewhere.url)
  const gone = await subscribe(mine.api, somewhere.url)
  assert.equal((await mine.api.delete(`/webhooks/subscriptions/${gone.id}`)).status, 204)
  for (const each of [id, gone.id, 'sub_0000000000000000000000000a', 'x']) {
    const path = `/webhooks/subscriptions/${each}`
    const replies = await Promise.all([
      mine.api.get(path),
      mine.api.patch(path, { url: 'https://example.com/taken' }),
      mine.api.delete(path),
      mine.api.post(`${path}/enable`, { replay: true }),
      mine.api.post(`${path}/disable`),
      mine.api.post(`${path}/retry-now`),
      mine.api.post(`${path}/test`),
    ])
    for (const { status, body } of replies) {
      assert.equal(status, 404)
      assert.deepEqual(body, notFound)
    }
  }
  assert.equal((await theirs.api.get(`/webhooks/subscriptions/${id}`)).body.url, somewhere.url)
  assert.equal((await mine.api.get('/webhooks/subscriptions')).body.subscriptions.length, 0)
})

test('reading needs webhooks:read, everything else webhooks:write', async () => {
  const partner = await newPartner(service)
  const { id } = await subscribe(partner.api, somewhere.url)
  const path = `/webhooks/subscriptions/${id}`
  const reads: ((api: ApiClient) => Promise<{ status: number }>)[] = [
    (api) => api.get('/webhooks/subscriptions'),
    (api) => api.get(path),
    (api) => api.get('/webhooks/events'),
    (api) => api.get('/webhooks/events/evt_x'),
    (api) => api.get('/webhooks/resends/bulk_x'),
  ]
  const writes: typeof reads = [
    (api) => api.post('/webhooks/subscriptions', somewhere),
    (api) => api.patch(path, { description: 'x' }),
    (api) => api.delete(path),
    (api) => api.post(`${path}/enable`, { replay: false }),
    (api) => api.post(`${path}/disable`),
    (api) => api.post(`${path}/retry-now`),
    (api) => api.post(`${path}/test`),
    (api) => api.post('/webhooks/events/evt_x/resend'),
    (api) => api.post('/webhooks/events/resend', {}),
  ]
  const reader = await newKey(service, partner.id, ['webhooks:read'])
  const writer = await newKey(service, partner.id, ['webhooks:write'])
  const neither = await newKey(service, partner.id, ['partner:read', 'orders:read', 'orders:write'])
  for (const call of reads) {
    assert.notEqual((await call(reader.api)).status, 403)
    assert.equal((await call(writer.api)).status, 403)
    assert.equal((await call(neither.api)).status, 403)
  }
  for (const call of writes) {
    assert.equal((await call(reader.api)).status, 403)
    assert.equal((await call(neither.api)).status, 403)
  }
  assert.equal((await partner.api.get(path)).body.state, 'enabled')
  assert.equal((await partner.api.get('/webhooks/subscriptions', { token: null })).status, 401)
})

test('a partner has at most 100 subscriptions, also when many ask at once', async () => {
  const { api } = await newPartner(service)
  const of = (count: number) => ({ subscriptions: Array.from({ length: count }, () => somewhere) })
  assert.equal((await api.post('/webhooks/subscriptions', of(101))).status, 400)
  assert.equal((await api.post('/webhooks/subscriptions', of(90))).status, 201)
  const replies = await Promise.all(
    Array.from({ length: 25 }, (_, i) => api.post('/webhooks/subscriptions', i % 5 === 0 ? of(2) : somewhere)),
  )
  for (const { status, body } of replies.filter((reply) => reply.status !== 201)) {
    assert.equal(status, 409)
    assert.equal(body.error_code, 'conflict')
    assert.match(body.error_msg, /100 subscriptions/)
  }
  const all = async () => (await api.get('/webhooks/subscriptions?limit=100')).body
  assert.equal((await all()).subscriptions.length, 100)
  assert.equal((await all()).next_cursor, null)
  assert.equal((await api.post('/webhooks/subscriptions', somewhere)).status, 409)
  await api.delete(`/webhooks/subscriptions/${(await all()).subscriptions[0].id}`)
  assert.equal((await api.post('/webhooks/subscriptions', of(2))).status, 409)
  assert.equal((await api.post('/webhooks/subscriptions', somewhere)).status, 201)
})

test('the same Idempotency-Key makes one subscription, and with another request it is a conflict', async () => {
  const { api } = await newPartner(service)
  const headers = { 'idempotency-key': 'create-1' }
  const replies = await Promise.all(
    Array.from({ length: 8 }, () => api.post('/webhooks/subscriptions', somewhere, { headers })),
  )
  assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([201]))
  assert.equal(new Set(replies.map(({ text }) => text)).size, 1)
  assert.equal(replies.filter((reply) => reply.headers.get('idempotent-replayed') === 'true').length, 7)
  const other = await api.post('/webhooks/subscriptions', { ...somewhere, description: 'x' }, { headers })
  assert.equal(other.status, 409)
  assert.equal((await api.get('/webhooks/subscriptions')).body.subscriptions.length, 1)
})

test('every change is in the audit log, with who made it', async () => {
  const partner = await newPartner(service)
  const { id } = await subscribe(partner.api, somewhere.url)
  const path = `/webhooks/subscriptions/${id}`
  await partner.api.patch(path, { description: 'x' })
  await partner.api.post(`${path}/disable`)
  await partner.api.post(`${path}/enable`, { replay: true })
  await partner.api.post(`${path}/retry-now`)
  await partner.api.delete(path, { headers: { 'x-request-id': 'the-delete' } })
  const { body } = await service.operator.get(`/audit-log?partner_id=${partner.id}`)
  const entries = body.entries.filter((each: Body) => each.actor.kind === 'key').reverse()
  assert.deepEqual(
    entries.map((each: Body) => each.action),
    [
      'subscription.created',
      'subscription.changed',
      'subscription.changed',
      'subscription.changed',
      'events.resent',
      'subscription.retried',
      'subscription.deleted',
    ],
  )
  assert.deepEqual(entries[0].details, { url: somewhere.url, events: ['order-closed'] })
  assert.deepEqual(entries[2].details, { state: 'disabled' })
  assert.equal(entries.at(-1).target_id, id)
  assert.equal(entries.at(-1).request_id, 'the-delete')
})

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
