// How deliveries fare, as their partner sees it: counts that agree with the attempts, endpoints as they stand, what waits; and as the
// operator sees it, over all partners.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ApiClient, Body } from '../support/client.ts'
import { createDatabase, databaseKind } from '../support/database.ts'
import { eventually, startEndpoint } from '../support/endpoint.ts'
import { details, newPartner, publish, subscribe, untilEvent, untilFinished } from '../support/partner.ts'
import { startRestartable } from '../support/restarts.ts'
import { startTestService } from '../support/service.ts'

const service = await startTestService({ after }, { environment: { WEBHOOK_RETRY_SCHEDULE: '200ms,1h' } })

async function statistics(api: ApiClient, query = ''): Promise<Body> {
  const reply = await api.get(`/webhooks/stats${query}`)
  assert.equal(reply.status, 200, reply.text)
  return reply.body
}

// Counts are written every two seconds.
async function untilCounted(api: ApiClient, attempts: number): Promise<Body> {
  let found: Body
  await eventually(async () => {
    found = await statistics(api, '?window=1h')
    return found.attempts >= attempts
  }, `${attempts} attempts to be counted`)
  return found
}

test('a partner without deliveries has statistics, too', async () => {
  const { api } = await newPartner(service)
  const { from, to, buckets, ...rest } = await statistics(api)
  assert.deepEqual(rest, {
    window: '24h',
    bucket_seconds: 900,
    attempts: 0,
    delivered: 0,
    failed: 0,
    success_rate: null,
    latency_ms: null,
    pending: 0,
    oldest_undelivered_at: null,
    subscriptions: [],
  })
  assert.equal(buckets.length, 96)
  assert.ok(Date.parse(from) < Date.parse(to))
  const { id } = await subscribe(api, 'https://localhost:1/hook')
  const [only] = (await statistics(api)).subscriptions
  assert.deepEqual([only.id, only.health, only.state, only.last_error], [id, 'idle', 'enabled', null])
})

test('attempts are counted by outcome, over time and by endpoint, with how long they took', async (t) => {
  const { id: partnerId, api } = await newPartner(service)
  const [good, bad] = [await startEndpoint(t), await startEndpoint(t)]
  good.answer = async () => {
    await sleep(60)
    return 200
  }
  bad.answer = () => 503
  const well = await subscribe(api, good.url)
  const ill = await subscribe(api, bad.url, { events: ['order-updated'] })
  for (let i = 0; i < 5; i++) await untilFinished(api, (await publish(service, partnerId))[0]!)
  const [failing] = await publish(service, partnerId, { action: 'order-updated' })
  await untilEvent(api, failing!, (event) => event.delivery_tries === 2)

  const found = await untilCounted(api, 7)
  assert.deepEqual([found.attempts, found.delivered, found.failed], [7, 5, 2])
  assert.equal(found.success_rate, 5 / 7)
  assert.equal(found.pending, 1)
  const event = await details(api, failing!)
  assert.equal(found.oldest_undelivered_at, event.created_at)
  const sum = (of: string) => found.buckets.reduce((total: number, bucket: Body) => total + bucket[of], 0)
  assert.deepEqual([sum('delivered'), sum('failed'), found.buckets.length, found.bucket_seconds], [5, 2, 60, 60])

  const by = new Map<string, Body>(found.subscriptions.map((each: Body) => [each.id, each]))
  const one = by.get(well.id)
  assert.deepEqual([one.health, one.delivered, one.failed, one.pending, one.last_error], ['ok', 5, 0, 0, null])
  assert.ok(one.latency_ms.p50 >= 45 && one.latency_ms.p50 <= one.latency_ms.p99, JSON.stringify(one.latency_ms))
  const other = by.get(ill.id)
  assert.deepEqual([other.health, other.delivered, other.failed, other.pending], ['failing', 0, 2, 1])
  assert.match(other.failing_since, /Z$/)
  const { at, ...error } = other.last_error
  assert.deepEqual(error, { event_id: failing, status: 503, error_kind: null })
  assert.ok(Math.abs(Date.parse(at) - Date.parse(event.attempts[1].at)) < 1_000)

  for (const [window, buckets, seconds] of [
    ['24h', 96, 900],
    ['7d', 168, 3_600],
  ] as const) {
    const wider = await statistics(api, `?window=${window}`)
    assert.deepEqual([wider.attempts, wider.buckets.length, wider.bucket_seconds], [7, buckets, seconds])
    assert.deepEqual(wider.latency_ms, found.latency_ms)
  }
  const narrowed = await statistics(api, `?window=1h&subscription_id=${ill.id}`)
  assert.deepEqual([narrowed.attempts, narrowed.failed, narrowed.subscriptions.length], [2, 2, 1])
})

test('an endpoint that answers again is well, one that is disabled says so', async (t) => {
  const { id: partnerId, api } = await newPartner(service)
  const endpoint = await startEndpoint(t)
  let status = 500
  endpoint.answer = () => status
  const { id } = await subscribe(api, endpoint.url)
  const [first] = await publish(service, partnerId)
  await untilEvent(api, first!, (event) => event.delivery_tries > 0)
  const health = async () => (await statistics(api)).subscriptions[0].health
  assert.equal(await health(), 'failing')
  status = 200
  await untilFinished(api, first!)
  assert.equal((await untilCounted(api, 2)).subscriptions[0].health, 'ok')
  await api.post(`/webhooks/subscriptions/${id}/disable`)
  assert.equal(await health(), 'disabled')
})

test('what cannot be asked for is refused', async () => {
  const { api } = await newPartner(service)
  for (const query of ['?window=2h', '?window=', '?since=x'])
    assert.equal((await api.get(`/webhooks/stats${query}`)).status, 400, query)
  assert.equal((await api.get('/webhooks/stats?subscription_id=sub_none')).status, 404)
})

test('the operator sees what waits, who works, and the worst endpoints first', async (t) => {
  const fresh = await startTestService(t, { environment: { WEBHOOK_RETRY_SCHEDULE: '1h' } })
  const [one, two] = [await newPartner(fresh, 'One'), await newPartner(fresh, 'Two')]
  const [quick, slow, broken] = [await startEndpoint(t), await startEndpoint(t), await startEndpoint(t)]
  slow.answer = async () => {
    await sleep(300)
    return 200
  }
  broken.answer = () => 500
  const subscriptions = {
    quick: await subscribe(one.api, quick.url),
    slow: await subscribe(two.api, slow.url),
    broken: await subscribe(one.api, broken.url, { events: ['order-updated'] }),
    paused: await subscribe(two.api, 'https://localhost:1/hook', { events: ['incoming-funds'] }),
  }
  await two.api.post(`/webhooks/subscriptions/${subscriptions.paused.id}/disable`)
  for (const { id, api } of [one, two]) await untilFinished(api, (await publish(fresh, id))[0]!)
  const [failing] = await publish(fresh, one.id, { action: 'order-updated' })
  await untilEvent(one.api, failing!, (event) => event.delivery_tries > 0)
  let found: Body
  await eventually(async () => {
    found = (await fresh.operator.get('/delivery')).body
    return found.attempts_last_hour >= 3
  }, 'three attempts')
  assert.deepEqual([found.pending, found.attempts_last_hour, found.failed_last_hour], [1, 3, 1])
  assert.equal(found.oldest_undelivered_at, (await details(one.api, failing!)).created_at)
  assert.equal(found.workers.length, 1)
  const { broken: ill, slow: lame, quick: well, paused: off } = subscriptions
  assert.deepEqual(
    found.endpoints.map((each: Body) => [each.subscription_id, each.health, each.partner_name, each.pending]),
    [
      [ill.id, 'failing', 'One', 1],
      [lame.id, 'ok', 'Two', 0],
      [well.id, 'ok', 'One', 0],
      [off.id, 'disabled', 'Two', 0],
    ],
  )
  assert.deepEqual([found.endpoints[0].attempts, found.endpoints[0].failed], [1, 1])
  assert.ok(found.endpoints[1].latency_ms.p50 >= 200)
})

test('counts outlive a stop and are dropped when no window reaches them any more', async (t) => {
  const restartable = await startRestartable(t)
  const { service } = restartable
  const own = await newPartner(service)
  const endpoint = await startEndpoint(t)
  await subscribe(own.api, endpoint.url)
  await untilFinished(own.api, (await publish(service, own.id))[0]!)
  await restartable.meanwhile(async (db) => {
    const { rows } = await db.query<{ spanSeconds: number }>('select span_seconds from delivery_statistics order by 1')
    assert.deepEqual(
      rows.map((row) => row.spanSeconds),
      [60, 900, 3_600],
    )
    await db.query(`update delivery_statistics set at = at - interval '3 days'`)
  })
  // The first write after a start tidies up.
  await eventually(async () => (await statistics(own.api, '?window=7d')).attempts === 1, 'the hour to be kept')
  assert.equal((await statistics(own.api, '?window=24h')).attempts, 0)
  await eventually(async () => {
    await untilFinished(own.api, (await publish(service, own.id))[0]!)
    return (await statistics(own.api, '?window=24h')).attempts > 0
  }, 'new counts')
  await restartable.meanwhile(async (db) => {
    const old = await db.query<{ spanSeconds: number }>(
      `select span_seconds from delivery_statistics where at < now() - interval '2 days 1 hour'`,
    )
    assert.deepEqual(
      old.rows.map((row) => row.spanSeconds),
      [3_600],
    )
  })
})

if (databaseKind === 'postgres') {
  test('counts of several workers add up', async (t) => {
    const database = await createDatabase()
    t.after(() => database.remove())
    const environment = {
      OPERATOR_TOKEN: 'an-operator-token-for-all-processes',
      MASTER_KEY: `1:${Buffer.alloc(32, 7).toString('base64')}`,
    }
    const here = await startTestService(t, { database, environment })
    await startTestService(t, { database, environment: { ...environment, ROLE: 'worker' } })
    const own = await newPartner(here)
    const endpoint = await startEndpoint(t)
    for (let i = 0; i < 10; i++) await subscribe(own.api, endpoint.url)
    const workers = async () => (await here.operator.get('/delivery')).body.workers.length
    await eventually(async () => (await workers()) === 2, 'two workers')
    for (let i = 0; i < 10; i++) {
      for (const id of await publish(here, own.id)) await untilFinished(own.api, id)
    }
    const found = await untilCounted(own.api, 100)
    assert.deepEqual([found.attempts, found.delivered], [100, 100])
    for (const { attempts } of found.subscriptions) assert.equal(attempts, 10)
  })
}
