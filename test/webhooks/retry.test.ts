// What happens after a failure: the schedule and its jitter, Retry-After, 410, the end of the tries, waiting for a partner's
// activation, and a rate that is not exceeded. Costs about 8 s on each database.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { parseConfig } from '../../src/config.ts'
import { retryDelayMs } from '../../src/delivery/retry.ts'
import type { Body } from '../support/client.ts'
import { startEndpoint } from '../support/endpoint.ts'
import { details, newPartner, publish, publishMany, subscribe, untilEvent, untilFinished } from '../support/partner.ts'
import { startTestService } from '../support/service.ts'

const patient = await startTestService({ after }, { environment: { WEBHOOK_RETRY_SCHEDULE: '10m,20m' } })
const minute = 60_000
const hour = 60 * minute

test('without configuration the schedule is 5 s, 30 s, 2 m, … 24 h, 24 h', () => {
  const result = parseConfig({})
  assert.ok(result.ok)
  const second = 1_000
  assert.deepEqual(result.config.webhookRetryScheduleMs, [
    5 * second,
    30 * second,
    2 * minute,
    5 * minute,
    15 * minute,
    30 * minute,
    hour,
    2 * hour,
    4 * hour,
    8 * hour,
    12 * hour,
    24 * hour,
    24 * hour,
  ])
})

test('each pause is the schedule’s, give or take 20 %, and after the last there is none', () => {
  const schedule = [5_000, 30_000, 86_400_000]
  for (const [i, pause] of schedule.entries()) {
    const at = (random: number) => retryDelayMs(schedule, i + 1, undefined, () => random)
    assert.deepEqual([at(0), at(0.5), at(1)], [pause * 0.8, pause, pause * 1.2])
  }
  assert.equal(retryDelayMs(schedule, 4, undefined), undefined)
  assert.equal(retryDelayMs(schedule, 4, 1_000), undefined, 'Retry-After adds no try')
  const drawn = Array.from({ length: 200 }, () => retryDelayMs(schedule, 1, undefined)!)
  assert.ok(drawn.every((ms) => ms >= 4_000 && ms <= 6_000))
  assert.ok(new Set(drawn).size > 50, 'a crowd does not come back together')
})

test('Retry-After moves a retry later, by an hour at most, and never earlier', () => {
  const after = (pause: number, retryAfter: number) => retryDelayMs([pause], 1, retryAfter, () => 0.5)
  assert.equal(after(5_000, 60_000), 60_000)
  assert.equal(after(5_000, 1_000), 5_000)
  assert.equal(after(5_000, 5 * hour), hour)
  assert.equal(after(2 * hour, hour), 2 * hour)
})

test('an endpoint’s Retry-After is followed, in seconds or as a date', async (t) => {
  const endpoint = await startEndpoint(t)
  const partner = await newPartner(patient)
  await subscribe(partner.api, endpoint.url)
  const inMinutes = (minutes: number) => new Date(Date.now() + minutes * minute).toUTCString()
  // What the header says, and the least and most minutes until the next attempt; the schedule alone gives 8 to 12.
  const cases: [string, number, number][] = [
    ['1800', 29, 31],
    [inMinutes(40), 38, 41],
    ['86400', 59, 61],
    [inMinutes(600), 59, 61],
    ['5', 7.9, 12.1],
    ['0', 7.9, 12.1],
    ['-30', 7.9, 12.1],
    [inMinutes(-30), 7.9, 12.1],
    ['soon', 7.9, 12.1],
    ['99999999999999999999', 7.9, 12.1],
  ]
  for (const [header, least, most] of cases) {
    endpoint.answer = () => ({ status: 503, headers: { 'retry-after': header } })
    const [eventId] = await publish(patient, partner.id)
    const event = await untilEvent(partner.api, eventId!, ({ delivery_tries }) => delivery_tries === 1)
    const minutes = (Date.parse(event.next_attempt_at) - Date.parse(event.last_attempt_at)) / minute
    assert.ok(minutes >= least && minutes <= most, `Retry-After: ${header} led to ${minutes} minutes`)
  }
})

test('when the tries are used up the event is in error, with the last reason, and nothing follows', async (t) => {
  const quick = await startTestService(t, { environment: { WEBHOOK_RETRY_SCHEDULE: '20ms,40ms' } })
  const endpoint = await startEndpoint(t)
  const partner = await newPartner(quick)
  await subscribe(partner.api, endpoint.url)
  let status = 500
  endpoint.answer = () => status++
  const [eventId] = await publish(quick, partner.id)
  const event = await untilFinished(partner.api, eventId!)
  assert.deepEqual(
    [event.state, event.delivery_tries, event.error_reason, event.last_response_status, event.next_attempt_at],
    ['error', 3, 'http_502', 502, null],
  )
  assert.deepEqual(
    event.attempts.map((each: Body) => each.status),
    [500, 501, 502],
  )
  assert.deepEqual(
    endpoint.received.map((each) => each.headers['x-attempt-number']),
    ['1', '2', '3'],
  )
  const gaps = event.attempts.map((each: Body) => Date.parse(each.at))
  assert.ok(gaps[1] - gaps[0] >= 16 - 1 && gaps[2] - gaps[1] >= 32 - 1, 'no retry comes before its time')
  assert.equal(new Set(endpoint.received.map((each) => each.body.toString())).size, 1)
})

test('410 disables the subscription: undelivered events are kept in error, and the audit log says why', async (t) => {
  const endpoint = await startEndpoint(t)
  const partner = await newPartner(patient)
  const { id } = await subscribe(partner.api, endpoint.url)
  endpoint.answer = () => 500
  const [waiting] = await publish(patient, partner.id)
  await untilEvent(partner.api, waiting!, (event) => event.delivery_tries === 1)
  endpoint.answer = () => 410
  const [refused] = await publish(patient, partner.id)
  for (const each of [waiting!, refused!]) {
    const event = await untilFinished(partner.api, each)
    assert.deepEqual([event.state, event.error_reason, event.delivery_tries], ['error', 'subscription_disabled', 1])
  }
  const { body } = await partner.api.get(`/webhooks/subscriptions/${id}`)
  assert.deepEqual([body.state, body.disabled_reason], ['disabled', 'endpoint_gone'])
  const { body: log } = await patient.operator.get(`/audit-log?partner_id=${partner.id}&limit=1`)
  const [entry] = log.entries
  assert.deepEqual(
    [entry.action, entry.actor.kind, entry.target_id, entry.details],
    ['subscription.disabled', 'system', id, { reason: 'endpoint_gone' }],
  )
})

test('a suspended partner’s events are kept and wait; once it is active again they go out', async (t) => {
  const endpoint = await startEndpoint(t)
  const [partner, other] = [await newPartner(patient), await newPartner(patient)]
  await subscribe(partner.api, `${endpoint.url}/waits`)
  await subscribe(other.api, `${endpoint.url}/goes`)
  assert.equal((await patient.operator.patch(`/partners/${partner.id}`, { state: 'suspended' })).status, 200)
  assert.equal((await partner.api.get('/webhooks/events')).status, 403)
  const kept = await publishMany(patient, partner.id, 3)
  // Others are delivered meanwhile, several times over: the suspended one was passed by, not merely late.
  for (let i = 0; i < 3; i++) await untilFinished(other.api, (await publish(patient, other.id))[0]!)
  assert.ok(endpoint.received.every((each) => each.path.endsWith('/goes')))
  assert.equal((await patient.operator.patch(`/partners/${partner.id}`, { state: 'active' })).status, 200)
  for (const each of kept) {
    const event = await untilFinished(partner.api, each)
    assert.deepEqual([event.state, event.delivery_tries], ['completed', 1])
  }
})

test('rate_limit_per_second is never exceeded, nor is it when it is lowered', async (t) => {
  const endpoint = await startEndpoint(t)
  const partner = await newPartner(patient)
  const { id } = await subscribe(partner.api, endpoint.url, { rate_limit_per_second: 20 })
  const held = async (perSecond: number, count: number) => {
    const startedAt = Date.now()
    const before = endpoint.received.length
    await publishMany(patient, partner.id, count)
    const arrivals = (await endpoint.until(before + count)).slice(before).map((each) => each.at)
    // A tenth of a second's allowance may have been saved up.
    const saved = Math.max(1, perSecond / 10)
    for (const [i, at] of arrivals.entries()) {
      const allowed = saved + (perSecond * (at + 1 - startedAt)) / 1_000
      assert.ok(i + 1 <= allowed, `${i + 1} arrived where at most ${allowed} may`)
    }
  }
  await held(20, 40)
  await partner.api.patch(`/webhooks/subscriptions/${id}`, { rate_limit_per_second: 5 })
  await held(5, 8)
  await partner.api.patch(`/webhooks/subscriptions/${id}`, { rate_limit_per_second: null })
  const [last] = await publish(patient, partner.id)
  await untilFinished(partner.api, last!)
  assert.equal((await details(partner.api, last!)).delivery_tries, 1)
})
