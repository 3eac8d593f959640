// Bulk resend: durable, uncapped, its progress readable, each event on the full retry schedule. Costs about 10 s on each database.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stepBulkResend } from '../../src/webhooks/events.ts'
import type { ApiClient, Body } from '../support/client.ts'
import { eventually, startEndpoint } from '../support/endpoint.ts'
import { lastingDatabase } from '../support/offline.ts'
import {
  as,
  details,
  newPartner,
  publish,
  publishMany,
  subscribe,
  untilEvent,
  untilFinished,
} from '../support/partner.ts'

const environment = { WEBHOOK_RETRY_SCHEDULE: '50ms,50ms' }
const begin = async (api: ApiClient, filters: Record<string, unknown>): Promise<Body> => {
  const reply = await api.post('/webhooks/events/resend', filters)
  assert.equal(reply.status, 201, reply.text)
  return reply.body
}
const progressOf = async (api: ApiClient, id: string): Promise<Body> => (await api.get(`/webhooks/resends/${id}`)).body
const untilDone = async (api: ApiClient, id: string): Promise<Body> => {
  await eventually(async () => (await progressOf(api, id)).state === 'completed', 'the bulk resend to end')
  return progressOf(api, id)
}

test('1,700 events are resent in several steps, across a restart in the middle, each exactly once', async (t) => {
  const database = await lastingDatabase(t)
  const endpoint = await startEndpoint(t)
  const first = await database.start({ environment: { ...environment, ROLE: 'api' } })
  const partner = await newPartner(first)
  const { id } = await subscribe(partner.api, endpoint.url)
  await partner.api.post(`/webhooks/subscriptions/${id}/disable`)
  const ids = await publishMany(first, partner.id, 1_700)
  await partner.api.post(`/webhooks/subscriptions/${id}/enable`, { replay: false })
  const bulk = await begin(partner.api, { subscription_id: id })
  assert.deepEqual(Object.keys(bulk), ['id', 'state', 'filters', 'resent', 'skipped', 'created_at', 'finished_at'])
  assert.match(bulk.created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00$/)
  const { created_at: _, id: bulkId, ...rest } = bulk
  assert.deepEqual(rest, {
    state: 'running',
    filters: { subscription_id: id },
    resent: 0,
    skipped: 0,
    finished_at: null,
  })
  const [late] = await publish(first, partner.id) // not part of it
  await first.stop()

  // A worker that did one step and was gone.
  assert.equal(await database.offline((db) => db.transaction(stepBulkResend)), true)
  const reader = await database.start({ environment: { ...environment, ROLE: 'api' } })
  const midway = await progressOf(as(reader.partner, partner.secret), bulkId)
  assert.deepEqual([midway.state, midway.resent, midway.finished_at], ['running', 500, null])
  await reader.stop()

  // One that is stopped as soon as it has begun, and the one that ends it.
  const second = await database.start({ environment })
  await second.stop()
  const third = await database.start({ environment })
  const api = as(third.partner, partner.secret)
  const done = await untilDone(api, bulkId)
  assert.deepEqual([done.resent, done.skipped], [1_700, 0])
  assert.match(done.finished_at, /\+00:00$/)
  await endpoint.until(1_701)
  const pending = async () => (await api.get('/webhooks/events?state=pending&limit=1')).body.events.length
  await eventually(async () => (await pending()) === 0, 'everything to be delivered')
  const received = endpoint.received.map((each) => each.event.id)
  assert.equal(received.length, 1_701, 'none was sent twice')
  assert.deepEqual(new Set(received), new Set([...ids, late]))
})

test('what a bulk resend takes follows its filters; what cannot be resent is counted as skipped', async (t) => {
  const database = await lastingDatabase(t)
  const endpoint = await startEndpoint(t)
  const service = await database.start({ environment: { WEBHOOK_RETRY_SCHEDULE: '1h' } })
  const [{ api, id }, stranger] = [await newPartner(service), await newPartner(service)]
  const [well, off, gone] = [
    await subscribe(api, `${endpoint.url}/well`, { events: ['order-closed', 'order-updated'] }),
    await subscribe(api, `${endpoint.url}/off`),
    await subscribe(api, `${endpoint.url}/gone`),
  ]
  await subscribe(stranger.api, `${endpoint.url}/stranger`)
  const order = (resource: string) => ({ order: { id: resource, state: 's', operation: 'o' } })
  const closed = (await publish(service, id, order('a')))[0]!
  const updated = (await publish(service, id, { action: 'order-updated', ...order('b') }))[0]!
  await publish(service, stranger.id, order('a'))
  await endpoint.until(5)
  for (const each of (await api.get('/webhooks/events')).body.events) await untilFinished(api, each.id)
  await api.post(`/webhooks/subscriptions/${off.id}/disable`)
  await api.delete(`/webhooks/subscriptions/${gone.id}`)
  endpoint.answer = () => 500
  const [stuck] = await publish(service, id, order('c'))
  await untilEvent(api, stuck!, (event) => event.delivery_tries === 1)
  endpoint.answer = () => 200

  const run = async (filters: Record<string, unknown>) => {
    const { id: bulkId, filters: shown } = await begin(api, filters)
    assert.deepEqual(shown, filters)
    const { resent, skipped } = await untilDone(api, bulkId)
    for (const each of [closed, updated]) await untilFinished(api, each)
    return [resent, skipped]
  }
  const tries = async () => [(await details(api, closed)).delivery_tries, (await details(api, updated)).delivery_tries]
  assert.deepEqual(await run({ subscription_id: well.id, action: 'order-updated' }), [1, 0])
  assert.deepEqual(await tries(), [1, 2])
  assert.deepEqual(await run({ resource_id: 'a' }), [1, 2]) // of the disabled and the deleted one
  assert.deepEqual(await tries(), [2, 2])
  assert.deepEqual(await run({ state: 'completed', subscription_id: well.id }), [2, 0])
  assert.deepEqual(await tries(), [3, 3])
  assert.deepEqual(await run({ state: 'pending' }), [0, 1])
  assert.deepEqual(await run({ created_from: '1900-01-01T00:00:00Z', created_to: '2000-01-01T00:00:00+23:59' }), [0, 0])
  assert.deepEqual(await run({}), [2, 4])
  assert.deepEqual(await tries(), [4, 4])
  assert.equal((await details(api, stuck!)).delivery_tries, 1)
  assert.equal(endpoint.received.filter((each) => each.path.endsWith('/stranger')).length, 1)

  for (const [filters, sentence] of [
    [{ state: 'lost' }, /^state /],
    [{ error_reason: 'x' }, /^error_reason is not a known field/],
    [{ created_from: 'x' }, /^created_from /],
  ] as const) {
    const { status, body } = await api.post('/webhooks/events/resend', filters)
    assert.equal(status, 400)
    assert.match(body.error_msg, sentence)
  }
  const { id: bulkId } = await begin(api, { resource_id: 'nothing' })
  for (const each of [bulkId, 'bulk_0000000000000000000000000a']) {
    const { status, body } = await stranger.api.get(`/webhooks/resends/${each}`)
    assert.equal(status, 404)
    assert.deepEqual(body, { error_code: 'not_found', error_msg: 'There is no such bulk resend.' })
  }
})

test('each event of a bulk resend goes through the full retry schedule', async (t) => {
  const database = await lastingDatabase(t)
  const endpoint = await startEndpoint(t)
  const service = await database.start({ environment })
  const { api, id } = await newPartner(service)
  await subscribe(api, endpoint.url)
  endpoint.answer = () => 500
  const [first, second] = [(await publish(service, id))[0]!, (await publish(service, id))[0]!]
  for (const each of [first, second]) {
    const event = await untilFinished(api, each)
    assert.deepEqual([event.state, event.delivery_tries], ['error', 3])
  }
  let failures = 2
  endpoint.answer = ({ event }) => (event.id === first && failures-- <= 0 ? 200 : 500)
  const key = { headers: { 'idempotency-key': 'bulk-1' } }
  const replies = [await api.post('/webhooks/events/resend', { state: 'error' }, key)]
  replies.push(await api.post('/webhooks/events/resend', { state: 'error' }, key))
  assert.equal(replies[1]!.body.id, replies[0]!.body.id, 'an Idempotency-Key begins it once')
  const done = await untilDone(api, replies[0]!.body.id)
  assert.deepEqual([done.resent, done.skipped], [2, 0])
  const recovered = await untilFinished(api, first)
  assert.deepEqual([recovered.state, recovered.delivery_tries], ['completed', 6])
  const failed = await untilFinished(api, second)
  assert.deepEqual([failed.state, failed.delivery_tries, failed.error_reason], ['error', 6, 'http_500'])
})
