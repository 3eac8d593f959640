// How an endpoint's failures add up: the breaker, the automatic disabling, and what the operator is told. Costs about 14 s on each
// database.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRemoteJWKSet, jwtVerify } from 'jose'
import { concurrencyLimit, createLane, isPaused, type Lane, learn } from '../../src/delivery/lane.ts'
import type { Outcome } from '../../src/delivery/outcome.ts'
import { eventually, startEndpoint } from '../support/endpoint.ts'
import { lastingDatabase } from '../support/offline.ts'
import { as, newPartner, publish, subscribe, untilEvent, untilFinished } from '../support/partner.ts'

const second = 1_000
const status = (code: number): Outcome => ({
  kind: 'status',
  status: code,
  retryAfterMs: undefined,
  body: Buffer.alloc(0),
  durationMs: 10,
})
const timeout: Outcome = { kind: 'timeout', detail: '', durationMs: 30_000 }
const freshLane = (more: Partial<Lane['row']> = {}): Lane =>
  createLane(
    {
      subscriptionId: 'sub_x',
      partnerId: 'ptr_x',
      url: 'https://example.com/',
      enabled: true,
      deleted: false,
      suspended: false,
      rateLimitPerSecond: null,
      firstPosition: null,
      retryPosition: null,
      failures: 0,
      failingForMs: 0,
      pausedForMs: 0,
      pauseMs: 0,
      ...more,
    },
    0,
  )
const failAt = (lane: Lane, atMs: number, random = 0.5) => learn(lane, status(500), atMs, () => random)

test('the breaker opens after 10 consecutive failures over at least 30 seconds, and not before', () => {
  const quick = freshLane()
  for (let i = 0; i < 50; i++) assert.equal(failAt(quick, i * 500), undefined)
  assert.equal(isPaused(quick, 25 * second), false, '50 failures in 25 s')
  assert.equal(failAt(quick, 31 * second), 'failing')
  assert.ok(isPaused(quick, 31 * second + 1))

  const few = freshLane()
  for (let i = 0; i < 9; i++) assert.equal(failAt(few, i * 60 * second), undefined)
  assert.equal(isPaused(few, 9 * 60 * second), false, '9 failures in 9 minutes')
  learn(few, status(204), 9 * 60 * second)
  for (let i = 10; i < 19; i++) assert.equal(failAt(few, i * 60 * second), undefined, 'a success starts the count anew')
  assert.equal(failAt(few, 20 * 60 * second), 'failing')
})

test('its pauses grow from 30 seconds to 10 minutes, one probe at a time, until a success closes it', () => {
  const lane = freshLane({ failures: 9, failingForMs: 60 * second })
  learn(lane, status(200), 0)
  lane.failures = 9
  lane.failingSinceMs = -60 * second
  lane.concurrency = 20
  assert.equal(concurrencyLimit(lane), 20)
  let nowMs = 0
  assert.equal(failAt(lane, nowMs), 'failing')
  for (const pause of [30, 60, 120, 240, 480, 600, 600]) {
    assert.equal(lane.pausedUntilMs - nowMs, pause * second)
    assert.equal(concurrencyLimit(lane), 1)
    assert.equal(failAt(lane, nowMs + second), undefined) // what was under way when it opened does not lengthen it
    assert.equal(lane.pausedUntilMs - nowMs, pause * second)
    nowMs = lane.pausedUntilMs
    assert.equal(isPaused(lane, nowMs), false)
    assert.equal(failAt(lane, nowMs), undefined, 'it is told once that an endpoint is failing')
  }
  assert.equal(learn(lane, status(200), nowMs), 'recovered')
  assert.deepEqual([lane.failures, lane.pauseMs, isPaused(lane, nowMs)], [0, 0, false])
  assert.ok(concurrencyLimit(lane) > 1)
  assert.equal(learn(lane, status(200), nowMs), undefined)
})

test('pauses of many endpoints do not end together', () => {
  for (const [random, pause] of [
    [0, 27],
    [1, 33],
  ] as const) {
    const lane = freshLane({ failures: 9, failingForMs: 60 * second })
    failAt(lane, 0, random)
    assert.equal(Math.round(lane.pausedUntilMs), pause * second)
  }
})

test('a record of failures survives a change of workers', () => {
  const lane = freshLane({ failures: 9, failingForMs: 40 * second, pauseMs: 0 })
  assert.equal(failAt(lane, 0), 'failing')
  const paused = freshLane({ failures: 30, failingForMs: 9e6, pauseMs: 120 * second, pausedForMs: 50 * second })
  assert.ok(isPaused(paused, 49 * second) && !isPaused(paused, 51 * second))
  assert.equal(failAt(paused, 51 * second), undefined)
  assert.equal(paused.pausedUntilMs, 51 * second + 240 * second)
})

test('concurrency grows by one after a window of successes, is halved by 429 and timeouts, and stays from 1 to 50', () => {
  const lane = freshLane()
  assert.equal(concurrencyLimit(lane), 1, 'one at a time until it has answered well')
  const succeed = (times: number) => {
    for (let i = 0; i < times; i++) learn(lane, status(200), i)
  }
  succeed(1)
  const first = concurrencyLimit(lane)
  succeed(first)
  assert.equal(concurrencyLimit(lane), first + 1)
  succeed(5_000)
  assert.equal(concurrencyLimit(lane), 50)
  learn(lane, status(429), 0)
  assert.equal(lane.concurrency, 25)
  learn(lane, timeout, 0)
  assert.equal(lane.concurrency, 12)
  learn(lane, status(500), 0)
  assert.equal(lane.concurrency, 12)
  for (let i = 0; i < 10; i++) learn(lane, timeout, 0)
  assert.equal(lane.concurrency, 1)
})

test('an endpoint that fails, recovers, and is disabled after five days: the breaker holds and the operator is told', async (t) => {
  const database = await lastingDatabase(t)
  const [endpoint, operations] = [await startEndpoint(t), await startEndpoint(t)]
  const environment = { WEBHOOK_RETRY_SCHEDULE: '1h,1h', OPERATIONS_WEBHOOK_URL: operations.url }
  const first = await database.start({ environment })
  const partner = await newPartner(first)
  const { id } = await subscribe(partner.api, endpoint.url)
  const record = (failures: number, since: string, more = '') =>
    database.offline((db) =>
      db.query(
        `update lanes set failures = $2, failing_since = now() - $3::interval ${more} where subscription_id = $1`,
        [id, failures, since],
      ),
    )
  const told = async (count: number) => {
    await eventually(() => operations.received.length >= count, `the operator to be told ${count} times`)
    return operations.received.map(({ event }) => event.action)
  }
  await first.stop()

  // The tenth failure, after a minute of failing.
  await record(9, '1 minute')
  const second = await database.start({ environment })
  let api = as(second.partner, partner.secret)
  endpoint.answer = () => 500
  const [failed] = await publish(second, partner.id)
  await untilEvent(api, failed!, (event) => event.delivery_tries === 1)
  assert.deepEqual(await told(1), ['endpoint-failing'])
  const [hook] = operations.received
  assert.deepEqual(Object.keys(hook!.event), ['id', 'action', 'created_at', 'subscription'])
  assert.deepEqual(hook!.event.subscription, { id, partner_id: partner.id, url: endpoint.url })
  const keys = createRemoteJWKSet(new URL(`${second.url}/.well-known/jwks.json`))
  const { payload } = await jwtVerify(hook!.headers['x-jwt-signature'] as string, keys, { audience: 'sub_operations' })
  assert.equal(payload.sub, hook!.event.id)
  const metrics = async () => (await second.operator.get('/metrics')).text
  assert.match(await metrics(), /webhook_lanes\{state="paused"\} 1/)
  endpoint.answer = () => 200
  const [waiting] = await publish(second, partner.id)

  // No API shows the hook or lets anyone near it.
  const { body: partners } = await second.operator.get('/partners?limit=100')
  assert.ok(partners.partners.every((each: { id: string }) => each.id.startsWith('ptr_')))
  const hidden = [
    await second.operator.get('/partners/operations'),
    await second.operator.patch('/partners/operations', { state: 'suspended' }),
    await second.operator.get('/partners/operations/configuration'),
    await second.operator.get('/partners/operations/keys'),
    await second.operator.post('/partners/operations/keys', { name: 'x', scopes: ['webhooks:read'] }),
    await second.operator.post('/events', {
      partner_id: 'operations',
      id: 'x',
      action: 'order-closed',
      order: { id: 'o', state: 's', operation: 'o' },
    }),
    await api.get('/webhooks/subscriptions/sub_operations'),
    await api.get(`/webhooks/events/${hook!.event.id}`),
  ]
  assert.deepEqual(
    hidden.map((reply) => reply.status),
    hidden.map(() => 404),
  )
  const { body: mine } = await api.get('/webhooks/events')
  assert.deepEqual(new Set(mine.events.map((each: { id: string }) => each.id)), new Set([failed, waiting]))
  const { body: written } = await second.operator.get(`/partners/${partner.id}/configuration`)
  assert.equal((await second.operator.put('/partners/operations/configuration', written)).status, 404)

  // A pause uses up no tries. When it is over, one probe goes out, succeeds, and the rest follows.
  assert.equal((await untilEvent(api, waiting!, () => true)).delivery_tries, 0)
  await second.stop()
  await database.offline((db) => db.query(`update lanes set paused_until = now() where subscription_id = $1`, [id]))
  const third = await database.start({ environment })
  api = as(third.partner, partner.secret)
  assert.equal((await untilFinished(api, waiting!)).delivery_tries, 1)
  assert.deepEqual(await told(2), ['endpoint-failing', 'endpoint-recovered'])
  await third.stop()

  // Many failures in less than five days, or five days with few, disable nothing.
  endpoint.answer = () => 500
  for (const [failures, since] of [
    [40, '4 days 23 hours'],
    [18, '10 days'],
  ] as const) {
    await record(failures, since, ', pause_ms = 30000, paused_until = null')
    const service = await database.start({ environment })
    const own = as(service.partner, partner.secret)
    const [eventId] = await publish(service, partner.id)
    await untilEvent(own, eventId!, (event) => event.delivery_tries === 1)
    assert.equal((await own.get(`/webhooks/subscriptions/${id}`)).body.state, 'enabled')
    await service.stop()
  }
  await record(19, '5 days 1 minute', ', paused_until = null')
  const last = await database.start({ environment })
  api = as(last.partner, partner.secret)
  const [final] = await publish(last, partner.id)
  const event = await untilFinished(api, final!)
  assert.deepEqual([event.state, event.error_reason, event.delivery_tries], ['error', 'subscription_disabled', 1])
  const { body: subscription } = await api.get(`/webhooks/subscriptions/${id}`)
  assert.deepEqual([subscription.state, subscription.disabled_reason], ['disabled', 'failing_for_five_days'])
  assert.equal((await told(3))[2], 'endpoint-disabled')
  assert.equal(operations.received[2]!.event.subscription.disabled_reason, 'failing_for_five_days')

  // Enabled again it starts with a clean record: one more failure disables nothing.
  await api.post(`/webhooks/subscriptions/${id}/enable`, { replay: false })
  const [afterwards] = await publish(last, partner.id)
  await untilEvent(api, afterwards!, ({ delivery_tries }) => delivery_tries === 1)
  assert.equal((await api.get(`/webhooks/subscriptions/${id}`)).body.state, 'enabled')
})
