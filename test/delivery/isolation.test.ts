// No endpoint can hurt another: half of a thousand endpoints hang, one of them with a hundred thousand events behind it, and the
// other half gets everything meanwhile. Partners take turns; new events do not queue behind old retries.
// About 45 s on PostgreSQL (a third of it publishing the backlog through the API), 25 s on the embedded database, which gets a tenth.
import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { type ApiClient, type Body, createClient } from '../support/client.ts'
import { databaseKind } from '../support/database.ts'
import { type Endpoint, eventually, startEndpoint } from '../support/endpoint.ts'
import { startTestService, type TestService } from '../support/service.ts'

const small = databaseKind === 'embedded'
const order = { id: 'order-1', state: 'completed', operation: 'buy' }
const funds = { customer_id: 'c', currency: 'USDC', amount: '1', network: 'n', address: 'a', transaction_hash: 't' }

interface TestPartner {
  readonly id: string
  readonly api: ApiClient
}

async function createPartner(service: TestService): Promise<TestPartner> {
  const { body: partner } = await service.operator.post('/partners', { name: 'Partner' })
  const key = await service.operator.post(`/partners/${partner.id}/keys`, {
    name: 'test',
    scopes: ['webhooks:read', 'webhooks:write'],
  })
  assert.equal(key.status, 201, key.text)
  return { id: partner.id, api: createClient(service.url, '/v1', key.body.secret) }
}

async function subscribe({ api }: TestPartner, urls: readonly string[], action: string): Promise<string[]> {
  const reply = await api.post('/webhooks/subscriptions', {
    subscriptions: urls.map((url) => ({ url, events: [action] })),
  })
  assert.equal(reply.status, 201, reply.text)
  return reply.body.subscriptions.map((each: Body) => each.id)
}

let published = 0
async function publish(service: TestService, { id }: TestPartner, count: number, content: Body): Promise<void> {
  for (let left = count; left > 0; left -= 1_000) {
    const events = Array.from({ length: Math.min(left, 1_000) }, () => ({
      partner_id: id,
      id: `publication-${published++}`,
      ...content,
    }))
    const reply = await service.operator.post('/events', { events })
    assert.equal(reply.status, 201, reply.text)
  }
}

// Keeps the answers to everything under /hung back, and knows which of them are still being waited for.
function hangSome(endpoint: Endpoint): Set<ServerResponse> {
  const waiting = new Set<ServerResponse>()
  endpoint.answer = ({ path }) => {
    if (!path.startsWith('/hung')) return 200
    return (response) => {
      waiting.add(response)
      response.once('close', () => waiting.delete(response))
    }
  }
  return waiting
}

async function eventsIn({ api }: TestPartner, state: string): Promise<Body[]> {
  const events: Body[] = []
  let cursor = ''
  do {
    const { body } = await api.get(`/webhooks/events?state=${state}&limit=100${cursor && `&cursor=${cursor}`}`)
    events.push(...body.events)
    cursor = body.next_cursor ?? ''
  } while (cursor !== '')
  return events
}

test('while half of all endpoints hang, the other half gets everything', async (t) => {
  const partnerCount = small ? 1 : 10
  const perPartner = 100
  const eventsEach = 3
  const backlog = small ? 5_000 : 100_000
  // So long that every hung attempt is still open at the end, whatever the machine.
  const service = await startTestService(t, { environment: { WEBHOOK_TIMEOUT: '120s' } })
  const endpoint = await startEndpoint(t)
  const origin = `https://localhost:${endpoint.port}`
  const hung = hangSome(endpoint)

  const partners: TestPartner[] = []
  for (let p = 0; p < partnerCount; p++) {
    const partner = await createPartner(service)
    // All on one origin: hung requests must not hold up others even there.
    const urls = Array.from({ length: perPartner }, (_, i) => `${origin}/${i % 2 === 0 ? 'hung' : 'healthy'}/${p}/${i}`)
    await subscribe(partner, urls, 'order-closed')
    partners.push(partner)
  }
  const loaded = await createPartner(service)
  await subscribe(loaded, [`${origin}/hung/loaded`], 'incoming-funds')
  await publish(service, loaded, backlog, { action: 'incoming-funds', incoming_funds: funds })

  const hungCount = (partnerCount * perPartner) / 2 + 1
  const healthyEvents = () => endpoint.received.filter(({ path }) => path.startsWith('/healthy')).length
  for (let wave = 1; wave <= 2; wave++) {
    for (const partner of partners) await publish(service, partner, eventsEach, { action: 'order-closed', order })
    const expected = wave * eventsEach * ((partnerCount * perPartner) / 2)
    await eventually(() => healthyEvents() >= expected, `wave ${wave} at the healthy endpoints`)
    // The second wave finds every hung endpoint occupied.
    await eventually(() => hung.size === hungCount, 'every hung endpoint to have a request')
  }
  const healthyPerPartner = (2 * eventsEach * perPartner) / 2
  for (const partner of partners)
    await eventually(
      async () => (await eventsIn(partner, 'completed')).length === healthyPerPartner,
      'the healthy events to be completed',
    )
  assert.equal(hung.size, hungCount, 'all hung requests are still open')
  assert.equal(endpoint.received.filter(({ path }) => path.startsWith('/hung')).length, hungCount)
  assert.equal(healthyEvents(), partnerCount * healthyPerPartner, 'nothing was sent twice')
  await stopHung(service, hung)
})

// A stop waits for what is under way.
async function stopHung(service: TestService, hung: Set<ServerResponse>): Promise<void> {
  const stopped = service.stop()
  for (const response of hung) response.destroy()
  await stopped
}

test("a partner's few events do not wait for another's thousands", async (t) => {
  const many = small ? 2_000 : 10_000
  const lanes = 20
  const service = await startTestService(t)
  const endpoint = await startEndpoint(t)
  endpoint.answer = async () => {
    await sleep(30)
    return 200
  }
  const [busy, modest] = [await createPartner(service), await createPartner(service)]
  const urls = (name: string, count: number) => Array.from({ length: count }, (_, i) => `${endpoint.url}/${name}/${i}`)
  await subscribe(busy, urls('busy', lanes), 'order-closed')
  await subscribe(modest, urls('modest', 2), 'order-closed')
  const received = (name: string) => endpoint.received.filter(({ path }) => path.includes(name)).length
  await publish(service, busy, many / lanes, { action: 'order-closed', order })
  await eventually(() => received('busy') > 0, 'the many to be under way')
  await publish(service, modest, 5, { action: 'order-closed', order })
  await eventually(() => received('modest') === 10, 'the few')
  assert.ok(received('busy') < many, 'the many are not done yet')
  await eventually(() => received('busy') === many, 'the many')
})

test('first attempts do not wait behind a heap of retries of the same subscription', async (t) => {
  const heap = 500
  const fresh = 20
  const service = await startTestService(t, { environment: { WEBHOOK_RETRY_SCHEDULE: '6s,1h' } })
  const endpoint = await startEndpoint(t)
  const partner = await createPartner(service)
  await subscribe(partner, [endpoint.url], 'order-closed')
  const attempts = (number: string) =>
    endpoint.received.filter(({ headers }) => headers['x-attempt-number'] === number).length
  await publish(service, partner, 1, { action: 'order-closed', order })
  await eventually(() => attempts('1') === 1, 'the endpoint to prove itself')

  const waiting: (() => void)[] = []
  let failing = true
  endpoint.answer = ({ headers }) => {
    if (headers['x-attempt-number'] === '1') return failing ? 500 : 200
    if (failing) return 200 // a retry that came before the heap was complete
    return new Promise((resolve) => waiting.push(() => resolve(200)))
  }
  await publish(service, partner, heap, { action: 'order-closed', order })
  await eventually(() => attempts('1') === 1 + heap, 'all first attempts to fail')
  failing = false
  let due = 0
  await eventually(async () => {
    const events = await eventsIn(partner, 'pending')
    due = Math.max(...events.map((event) => Date.parse(event.next_attempt_at)))
    return events.every((event) => event.delivery_tries === 1)
  }, 'all retries to be scheduled')
  await eventually(() => Date.now() > due && waiting.length > 0, 'all retries to be due')
  await publish(service, partner, fresh, { action: 'order-closed', order })
  // Retries are let go one by one: with them the fresh ones get their turns, long before the heap is done.
  await eventually(() => {
    waiting.shift()?.()
    return attempts('1') === 1 + heap + fresh
  }, 'the fresh events')
  assert.ok(attempts('2') < heap, 'there are retries left')
  endpoint.answer = () => 200
  await eventually(() => {
    for (const release of waiting.splice(0)) release()
    return attempts('2') === heap
  }, 'the heap')
})
