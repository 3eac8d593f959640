// The state table of section 3.1 and the rules of 4.3, to the letter. Costs about 8 s on each database.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { decodeJwt } from 'jose'
import type { Body } from '../support/client.ts'
import { type Answer, type Endpoint, eventually, startEndpoint } from '../support/endpoint.ts'
import { lastingDatabase } from '../support/offline.ts'
import {
  as,
  details,
  newPartner,
  publish,
  subscribe,
  type TestPartner,
  untilEvent,
  untilFinished,
} from '../support/partner.ts'
import { startTestService } from '../support/service.ts'

const service = await startTestService({ after }, { environment: { WEBHOOK_RETRY_SCHEDULE: '1h,1h,1h,1h' } })
const notFound = { error_code: 'not_found', error_msg: 'There is no such event.' }
const resend = ({ api }: TestPartner, id: string, headers = {}) =>
  api.post(`/webhooks/events/${id}/resend`, undefined, { headers })

interface Scene {
  readonly endpoint: Endpoint
  readonly partner: TestPartner
  readonly subscriptionId: string
  readonly eventId: string
}

// An event that is `completed`, `error` or, waiting for its retry, `pending`.
async function eventIn(
  state: 'completed' | 'error' | 'pending',
  t: { after(work: () => Promise<void>): void },
): Promise<Scene> {
  const endpoint = await startEndpoint(t)
  const partner = await newPartner(service)
  const { id: subscriptionId } = await subscribe(partner.api, endpoint.url)
  endpoint.answer = () => (state === 'completed' ? 200 : 500)
  const [eventId] = await publish(service, partner.id)
  await untilEvent(partner.api, eventId!, (event) => event.delivery_tries === 1)
  if (state === 'error') {
    // One resend that fails: an event in `error` whose subscription is well and enabled.
    await endpoint.until(1)
    await partner.api.post(`/webhooks/subscriptions/${subscriptionId}/disable`)
    await untilFinished(partner.api, eventId!)
    await partner.api.post(`/webhooks/subscriptions/${subscriptionId}/enable`, { replay: false })
  }
  assert.equal((await details(partner.api, eventId!)).state, state)
  endpoint.answer = () => 200
  return { endpoint, partner, subscriptionId, eventId: eventId! }
}

for (const from of ['completed', 'error'] as const) {
  for (const [to, status] of [['completed', 204] as const, ['error', 503] as const]) {
    test(`${from}: a resend is one attempt and the event then ${to}`, async (t) => {
      const { endpoint, partner, eventId } = await eventIn(from, t)
      const before = await details(partner.api, eventId)
      const release = Promise.withResolvers<Answer>()
      endpoint.answer = () => release.promise
      const { status: replied, body } = await resend(partner, eventId)
      assert.equal(replied, 200)
      assert.deepEqual(body, {
        id: eventId,
        created_at: before.created_at,
        delivery_url: endpoint.url,
        delivery_tries: before.delivery_tries,
      })
      assert.deepEqual(Object.keys(body), ['id', 'created_at', 'delivery_url', 'delivery_tries'])
      assert.match(body.created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00$/)
      await endpoint.until(2)
      const during = await details(partner.api, eventId)
      assert.deepEqual([during.state, during.delivery_tries], ['pending', before.delivery_tries])
      release.resolve(status)
      const event = await untilFinished(partner.api, eventId)
      assert.deepEqual([event.state, event.delivery_tries], [to, before.delivery_tries + 1])
      assert.equal(event.error_reason, to === 'error' ? 'http_503' : null)
      assert.equal(event.next_attempt_at, null, 'no retry follows')
      assert.equal(event.last_response_status, status)
      assert.deepEqual(
        event.attempts.map((each: Body) => each.number),
        [1, 2],
      )
      assert.equal(endpoint.received.length, 2)
    })
  }
}

test('a pending event is refused with 400 invalid_event_state and stays as it is', async (t) => {
  const { endpoint, partner, eventId } = await eventIn('pending', t)
  const before = await details(partner.api, eventId)
  const { status, body } = await resend(partner, eventId)
  assert.equal(status, 400)
  assert.deepEqual(Object.keys(body), ['error_code', 'error_msg'])
  assert.equal(body.error_code, 'invalid_event_state')
  assert.match(body.error_msg, /pending/)
  assert.deepEqual(await details(partner.api, eventId), before)
  assert.equal(endpoint.received.length, 1)
})

test('an event of another partner is refused exactly like one that does not exist: 404 not_found', async (t) => {
  const { partner, eventId, endpoint } = await eventIn('completed', t)
  const stranger = await newPartner(service)
  for (const [who, id] of [
    [stranger, eventId],
    [stranger, 'evt_0000000000000000000000000a'],
    [partner, 'evt_0000000000000000000000000a'],
    [partner, 'x'],
  ] as const) {
    const { status, body } = await resend(who, id)
    assert.equal(status, 404)
    assert.deepEqual(body, notFound)
  }
  assert.equal((await details(partner.api, eventId)).delivery_tries, 1)
  assert.equal(endpoint.received.length, 1)
})

test('the bytes are those of the original; the signature is new, with a current iat and a new jti', async (t) => {
  const { endpoint, partner, subscriptionId, eventId } = await eventIn('completed', t)
  await new Promise((resolve) => setTimeout(resolve, 1_100)) // so that iat, which counts seconds, has to differ
  const askedAt = Math.floor(Date.now() / 1_000)
  await resend(partner, eventId)
  const [original, resent] = await endpoint.until(2)
  assert.deepEqual(resent!.body, original!.body)
  const [first, second] = [original!, resent!].map((each) => decodeJwt(each.headers['x-jwt-signature'] as string))
  assert.notEqual(second!.jti, first!.jti)
  assert.ok(second!.iat! >= askedAt && second!.iat! > first!.iat!)
  assert.deepEqual([second!.sub, second!.aud, second!.digest], [eventId, subscriptionId, first!.digest])
  assert.equal(resent!.headers['x-attempt-number'], '2')
})

test('delivered_at is the first success and stays', async (t) => {
  const { endpoint, partner, eventId } = await eventIn('error', t)
  assert.equal((await details(partner.api, eventId)).delivered_at, null)
  await resend(partner, eventId)
  const first = await untilFinished(partner.api, eventId)
  assert.match(first.delivered_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00$/)
  for (const answer of [200, 500]) {
    endpoint.answer = () => answer
    await resend(partner, eventId)
    const event = await untilFinished(partner.api, eventId)
    assert.equal(event.delivered_at, first.delivered_at)
    assert.ok(event.last_attempt_at > first.last_attempt_at)
  }
})

test('a disabled or deleted subscription is refused with 400 invalid_event_state, saying so', async (t) => {
  const { partner, subscriptionId, eventId } = await eventIn('completed', t)
  const path = `/webhooks/subscriptions/${subscriptionId}`
  await partner.api.post(`${path}/disable`)
  const disabled = await resend(partner, eventId)
  assert.deepEqual([disabled.status, disabled.body.error_code], [400, 'invalid_event_state'])
  assert.match(disabled.body.error_msg, /subscription .* disabled/)
  await partner.api.delete(path)
  const deleted = await resend(partner, eventId)
  assert.deepEqual([deleted.status, deleted.body.error_code], [400, 'invalid_event_state'])
  assert.match(deleted.body.error_msg, /subscription .* deleted/)
  assert.equal((await details(partner.api, eventId)).state, 'completed')
})

test('of 20 resends at once exactly one is taken, the rest are refused as pending', async (t) => {
  const { endpoint, partner, eventId } = await eventIn('completed', t)
  const release = Promise.withResolvers<Answer>()
  endpoint.answer = () => release.promise
  const replies = await Promise.all(Array.from({ length: 20 }, () => resend(partner, eventId)))
  assert.equal(replies.filter(({ status }) => status === 200).length, 1)
  for (const { status, body } of replies.filter((reply) => reply.status !== 200)) {
    assert.deepEqual([status, body.error_code], [400, 'invalid_event_state'])
  }
  release.resolve(200)
  assert.equal((await untilFinished(partner.api, eventId)).delivery_tries, 2)
  assert.equal(endpoint.received.length, 2)
})

test('the same Idempotency-Key resends once and is answered alike, also when the event is pending by then', async (t) => {
  const { endpoint, partner, eventId } = await eventIn('completed', t)
  const key = { 'idempotency-key': 'resend-1' }
  const first = await resend(partner, eventId, key)
  const second = await resend(partner, eventId, key)
  assert.deepEqual([first.status, second.status], [200, 200])
  assert.deepEqual(second.body, first.body)
  assert.equal(second.headers.get('idempotent-replayed'), 'true')
  await untilFinished(partner.api, eventId)
  const third = await resend(partner, eventId, key)
  assert.deepEqual(third.body, first.body)
  assert.equal((await details(partner.api, eventId)).state, 'completed')
  assert.equal(endpoint.received.length, 2)
})

test('a resend is in the audit log', async (t) => {
  const { partner, eventId } = await eventIn('completed', t)
  await resend(partner, eventId)
  const { body } = await service.operator.get(`/audit-log?partner_id=${partner.id}&limit=1`)
  assert.deepEqual([body.entries[0].action, body.entries[0].target_id], ['event.resent', eventId])
})

test('a resend passes an open breaker, and goes out although the rest waits', async (t) => {
  const database = await lastingDatabase(t)
  const endpoint = await startEndpoint(t)
  const first = await database.start()
  const partner = await newPartner(first)
  const { id } = await subscribe(partner.api, endpoint.url)
  const [done] = await publish(first, partner.id)
  await untilFinished(partner.api, done!)
  await first.stop()
  await database.offline((db) =>
    db.query(
      `update lanes set failures = 12, failing_since = now() - interval '1 hour', pause_ms = 600000,
         paused_until = now() + interval '10 minutes' where subscription_id = $1`,
      [id],
    ),
  )
  const second = await database.start()
  const again: TestPartner = { ...partner, api: as(second.partner, partner.secret) }
  const [waiting] = await publish(second, partner.id)
  const paused = async () => /webhook_lanes\{state="paused"\} 1/.test((await second.operator.get('/metrics')).text)
  await eventually(paused, 'the breaker to be open')
  endpoint.answer = () => 500
  assert.equal((await resend(again, done!)).status, 200)
  assert.equal((await untilFinished(again.api, done!)).state, 'error')
  assert.equal((await details(again.api, waiting!)).delivery_tries, 0, 'what is not a resend waits for the breaker')
  assert.ok(await paused())
  endpoint.answer = () => 200
  assert.equal((await resend(again, done!)).status, 200)
  assert.equal((await untilFinished(again.api, done!)).state, 'completed')
  // It was well: the breaker closes and the rest follows.
  assert.equal((await untilFinished(again.api, waiting!)).state, 'completed')
})
