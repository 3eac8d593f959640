// Sections 2.2 and 4.2 field by field, and who may do what with a subscription. What URLs are refused is in target.test.ts, what
// changes do to events in subscription-changes.test.ts. Costs about 4 s on each database.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { ApiClient, Body } from '../support/client.ts'
import { newKey, newPartner, subscribe } from '../support/partner.ts'
import { startTestService } from '../support/service.ts'

const service = await startTestService({ after })
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
