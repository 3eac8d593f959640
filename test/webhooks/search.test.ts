// Search Events and the details of one: every filter, paging that holds still, what attempts show. Costs about 6 s on each database.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { ApiClient, Body } from '../support/client.ts'
import { startEndpoint } from '../support/endpoint.ts'
import { details, newPartner, publish, publishMany, subscribe, untilEvent, untilFinished } from '../support/partner.ts'
import { startTestService } from '../support/service.ts'

const service = await startTestService(
  { after },
  { environment: { WEBHOOK_RETRY_SCHEDULE: '50ms,1h', WEBHOOK_TIMEOUT: '4s' } },
)
const micros = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}\+00:00$/
const search = async (api: ApiClient, query: Record<string, string> = {}): Promise<Body> => {
  const reply = await api.get(`/webhooks/events?${new URLSearchParams(query)}`)
  assert.equal(reply.status, 200, reply.text)
  assert.deepEqual(Object.keys(reply.body), ['events', 'next_cursor'])
  return reply.body
}
const idsOf = ({ events }: Body): string[] => events.map((each: Body) => each.id)

test('an event has exactly the fields that were promised, with times in the specified form', async (t) => {
  const endpoint = await startEndpoint(t)
  const { api, id } = await newPartner(service)
  const subscription = await subscribe(api, endpoint.url)
  const [eventId] = await publish(service, id, { order: { id: 'o-77', state: 'x', operation: 'y' } })
  await untilFinished(api, eventId!)
  const [event] = (await search(api)).events
  assert.deepEqual(Object.keys(event), [
    'id',
    'publication_id',
    'action',
    'state',
    'created_at',
    'delivery_url',
    'delivery_tries',
    'delivered_at',
    'last_attempt_at',
    'next_attempt_at',
    'last_response_status',
    'error_reason',
    'subscription_id',
    'resource_id',
  ])
  for (const name of ['created_at', 'delivered_at', 'last_attempt_at']) assert.match(event[name], micros)
  const { publication_id, created_at, delivered_at, last_attempt_at, ...rest } = event
  assert.deepEqual(rest, {
    id: eventId,
    action: 'order-closed',
    state: 'completed',
    delivery_url: endpoint.url,
    delivery_tries: 1,
    next_attempt_at: null,
    last_response_status: 200,
    error_reason: null,
    subscription_id: subscription.id,
    resource_id: 'o-77',
  })
  assert.match(publication_id, /^pub_/)
  assert.ok(created_at <= last_attempt_at && last_attempt_at <= delivered_at)
  const { payload, attempts, ...same } = await details(api, eventId!)
  assert.deepEqual(same, event)
  assert.deepEqual(payload, endpoint.received[0]!.event)
  assert.equal(attempts.length, 1)
})

test('every filter holds alone and together with the others', async (t) => {
  const endpoint = await startEndpoint(t)
  const { api, id } = await newPartner(service)
  const [one, two] = [
    await subscribe(api, `${endpoint.url}/1`, { events: ['order-closed', 'order-updated'] }),
    await subscribe(api, `${endpoint.url}/2`),
  ]
  const resources = ['r-1', 'r-2', 'r-3']
  for (const action of ['order-closed', 'order-updated'] as const)
    for (const resource of resources)
      await publish(service, id, { action, order: { id: resource, state: 's', operation: 'o' } })
  await api.post(`/webhooks/subscriptions/${two.id}/disable`)
  await publish(service, id, { order: { id: 'r-1', state: 's', operation: 'o' } })
  const all = async () => (await search(api, { limit: '100' })).events as Body[]
  for (const event of await all()) await untilFinished(api, event.id)
  const events = await all()
  assert.equal(events.length, 6 + 3 + 2)
  assert.ok(events.some((each) => each.state === 'error'))

  const middle = events[5]!.created_at
  const filters: [string, string, (event: Body) => boolean][] = [
    ['state', 'completed', (event) => event.state === 'completed'],
    ['state', 'error', (event) => event.state === 'error'],
    ['state', 'pending', (event) => event.state === 'pending'],
    ['action', 'order-updated', (event) => event.action === 'order-updated'],
    ['action', 'incoming-funds', () => false],
    ['subscription_id', one.id, (event) => event.subscription_id === one.id],
    ['subscription_id', 'sub_unknown', () => false],
    ['resource_id', 'r-1', (event) => event.resource_id === 'r-1'],
    ['resource_id', 'R-1', () => false],
    ['created_from', middle, (event) => event.created_at >= middle],
    ['created_to', middle, (event) => event.created_at < middle],
  ]
  const ids = (chosen: readonly Body[]) => chosen.map((each) => each.id)
  for (const [name, value, holds] of filters) {
    assert.deepEqual(idsOf(await search(api, { [name]: value })), ids(events.filter(holds)), `${name}=${value}`)
    for (const [other, otherValue, otherHolds] of filters) {
      if (other === name) continue
      assert.deepEqual(
        idsOf(await search(api, { [name]: value, [other]: otherValue })),
        ids(events.filter((event) => holds(event) && otherHolds(event))),
        `${name}=${value}&${other}=${otherValue}`,
      )
    }
  }
  const everything = { state: 'completed', action: 'order-closed', subscription_id: one.id, resource_id: 'r-2' }
  const exact = await search(api, { ...everything, created_from: events.at(-1)!.created_at })
  assert.equal(exact.events.length, 1)
})

test('a time can be written in any way that names it, and any time may be asked for', async () => {
  const { api, id } = await newPartner(service)
  await subscribe(api, 'https://localhost:9/never')
  const [eventId] = await publish(service, id)
  const { created_at: at } = await details(api, eventId!)
  const utc = at.replace('+00:00', 'Z')
  const elsewhere = `${new Date(Date.parse(at) + 5.5 * 3_600_000).toISOString().slice(0, 19) + at.slice(19, 26)}+05:30`
  for (const same of [at, utc, elsewhere, at.replace('+00:00', '000+00:00')]) {
    assert.equal((await search(api, { created_from: same })).events.length, 1, same)
    assert.equal((await search(api, { created_to: same })).events.length, 0, same)
  }
  const long = ['0000-01-01T00:00:00Z', '0001-01-01T00:00:00+23:59', '1960-01-01T00:00:00Z', '1970-01-01T00:00:00Z']
  for (const ago of long) {
    assert.equal((await search(api, { created_from: ago })).events.length, 1, ago)
    assert.equal((await search(api, { created_to: ago })).events.length, 0, ago)
  }
  for (const ahead of ['9999-12-31T23:59:59.999999Z', '2200-01-01T00:00:00-23:59']) {
    assert.equal((await search(api, { created_from: ahead })).events.length, 0, ahead)
    assert.equal((await search(api, { created_to: ahead })).events.length, 1, ahead)
  }
})

test('a filter or a page that makes no sense is refused, and named', async () => {
  const { api } = await newPartner(service)
  const cases: [string, RegExp][] = [
    ['state=lost', /^state must be one of pending, completed, error/],
    ['action=order-lost', /^action must be one of/],
    ['created_from=yesterday', /^created_from must be a time/],
    ['created_to=2026-01-05', /^created_to must be a time/],
    ['limit=0', /^limit must be >= 1/],
    ['limit=101', /^limit must be <= 100/],
    ['limit=x', /^limit must be an integer/],
    ['cursor=x', /^cursor is not one/],
    ['colour=red', /^colour is not a known field/],
  ]
  for (const [query, sentence] of cases) {
    const { status, body } = await api.get(`/webhooks/events?${query}`)
    assert.deepEqual([status, body.error_code], [400, 'invalid_parameters'], query)
    assert.match(body.error_msg, sentence)
  }
})

test('pages are newest first, complete, and hold still while events are added', async () => {
  const { api, id } = await newPartner(service)
  await subscribe(api, 'https://localhost:9/never')
  const before: string[] = []
  for (let i = 0; i < 4; i++) before.push(...(await publishMany(service, id, 30)))
  const seen: string[] = []
  let cursor: string | null = null
  do {
    const page: Body = await search(api, { limit: '7', ...(cursor ? { cursor } : {}) })
    seen.push(...idsOf(page))
    cursor = page.next_cursor
    await publishMany(service, id, 3)
  } while (cursor)
  assert.deepEqual(seen, [...before].sort().reverse())
  assert.equal(idsOf(await search(api)).length, 50, 'a page has 50 unless asked')
  const newest = (await search(api, { limit: '100' })).events as Body[]
  assert.equal(newest.length, 100)
  const times = newest.map((each) => each.created_at)
  assert.deepEqual(times, [...times].sort().reverse())
})

test('what belongs to another partner is never found, by whatever filter or id', async (t) => {
  const endpoint = await startEndpoint(t)
  const [mine, theirs] = [await newPartner(service), await newPartner(service)]
  const subscription = await subscribe(theirs.api, endpoint.url)
  const [eventId] = await publish(service, theirs.id)
  const event = await untilFinished(theirs.api, eventId!)
  for (const query of [
    {},
    { subscription_id: subscription.id },
    { resource_id: event.resource_id },
    { state: 'completed' },
  ]) {
    assert.deepEqual((await search(mine.api, query as Record<string, string>)).events, [])
  }
  const notFound = { error_code: 'not_found', error_msg: 'There is no such event.' }
  for (const id of [eventId, 'evt_0000000000000000000000000a', 'x']) {
    const { status, body } = await mine.api.get(`/webhooks/events/${id}`)
    assert.equal(status, 404)
    assert.deepEqual(body, notFound)
  }
})

test('attempts show time, url, status or kind of error, duration and the answer, oldest first', async (t) => {
  const endpoint = await startEndpoint(t)
  const { api, id } = await newPartner(service)
  const subscription = await subscribe(api, endpoint.url)
  endpoint.answer = () => ({ status: 503, body: 'come back later' })
  const [eventId] = await publish(service, id)
  const waiting = await untilEvent(api, eventId!, (event) => event.delivery_tries === 2)
  assert.deepEqual([waiting.state, waiting.error_reason, waiting.last_response_status], ['pending', 'http_503', 503])
  assert.match(waiting.next_attempt_at, micros)
  endpoint.answer = () => () => {} // never
  await api.post(`/webhooks/subscriptions/${subscription.id}/retry-now`)
  const event = await untilFinished(api, eventId!)
  assert.deepEqual([event.state, event.error_reason, event.last_response_status], ['error', 'timeout', null])
  assert.deepEqual(
    event.attempts.map(({ at, duration_ms, ...rest }: Body) => {
      assert.match(at, micros)
      assert.ok(Number.isInteger(duration_ms))
      return rest
    }),
    [
      ...[1, 2].map((number) => ({
        number,
        url: endpoint.url,
        status: 503,
        error_kind: null,
        error_detail: null,
        response_body: 'come back later',
      })),
      {
        number: 3,
        url: endpoint.url,
        status: null,
        error_kind: 'timeout',
        error_detail: 'no status within 4000 ms',
        response_body: null,
      },
    ],
  )
  assert.ok(event.attempts[2].duration_ms >= 3_990) // a timer may be a little early
  const times = event.attempts.map((each: Body) => each.at)
  assert.deepEqual(times, [...times].sort())
})

test('of an answer the first 16 KiB are kept, and bytes that are no text do not break anything', async (t) => {
  const endpoint = await startEndpoint(t)
  const { api, id } = await newPartner(service)
  await subscribe(api, endpoint.url)
  const answers: [Buffer, string][] = [
    [Buffer.alloc(0), ''],
    [Buffer.from('é'.repeat(20_000)), 'é'.repeat(8 * 1024)],
    [Buffer.from([0x00, 0xff, 0xc3, 0x28, 0x41]), '\0\ufffd\ufffd(A'],
    [Buffer.from(`x${'€'.repeat(10_000)}`), `x${'€'.repeat(5_461)}`], // 16,384 bytes end exactly with a character
    [Buffer.from(`${'€'.repeat(10_000)}`), `${'€'.repeat(5_461)}\ufffd`], // here they end within one
    [Buffer.from('<script>"\\\u2028'), '<script>"\\\u2028'],
  ]
  for (const [bytes, shown] of answers) {
    endpoint.answer = () => (response) => response.writeHead(200).end(bytes)
    const [eventId] = await publish(service, id)
    const event = await untilFinished(api, eventId!)
    assert.equal(event.attempts[0].response_body, shown)
  }
})
