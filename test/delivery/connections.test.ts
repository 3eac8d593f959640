// What attempts are sent over: names that change their address, kept connections, a proxy. A few seconds on each database.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Body } from '../support/client.ts'
import { eventually } from '../support/endpoint.ts'
import { startTestService, type TestService } from '../support/service.ts'
import { startCreature, startProxy } from '../support/zoo.ts'

const ok = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'

test('a name that turns to a private address is not dialled, although it was public before', async (t) => {
  const answers = [['127.0.0.1'], ['10.0.0.1']]
  let lookups = 0
  const service = await startTestService(t, {
    environment: { WEBHOOK_RETRY_SCHEDULE: '1h' },
    resolve: async () => (answers[lookups++] ?? ['10.0.0.1']).map((address) => ({ address, family: 4 })),
  })
  const creature = await startCreature(t, {
    onRequest: (socket) => void socket.end('HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n'),
  })
  await service.partner.post('/webhooks/subscriptions', {
    url: `https://rebinding.test:${creature.port}/`,
    events: ['order-closed'],
  })
  const first = await publishAndWait(service)
  assert.equal(first.attempts[0].status, 200)
  assert.equal(lookups, 1, 'what was vetted is what is dialled: the name is not looked up again')
  const second = await publishAndWait(service)
  assert.equal(second.attempts[0].error_kind, 'blocked_address')
  assert.equal(creature.connections(), 1)
})

test('a private address is refused when a subscription is changed, however it is written; a public one is not', async (t) => {
  const service = await startTestService(t)
  const { body } = await service.partner.post('/webhooks/subscriptions', {
    url: 'https://hooks.example.com/',
    events: ['order-closed'],
  })
  const forms = [
    '10.0.0.1',
    '0x0a000001',
    '167772161',
    '012.0.0.1',
    '[::ffff:10.0.0.1]',
    '[fd00::1]',
    '[64:ff9b::a00:1]',
  ]
  for (const host of forms) {
    const reply = await service.partner.patch(`/webhooks/subscriptions/${body.id}`, { url: `https://${host}/` })
    assert.equal(reply.status, 400, host)
    assert.equal(reply.body.error_code, 'invalid_parameters')
  }
  for (const host of ['8.8.8.8', '[2606:4700:4700::1111]']) {
    const reply = await service.partner.patch(`/webhooks/subscriptions/${body.id}`, { url: `https://${host}/` })
    assert.equal(reply.status, 200, host)
  }
})

test('an endpoint that closes its connection after each answer loses nothing by it, and no attempt is sent twice', async (t) => {
  const service = await startTestService(t, { environment: { WEBHOOK_RETRY_SCHEDULE: '1h' } })
  const creature = await startCreature(t, {
    onRequest: (socket) => {
      socket.write(ok)
      setImmediate(() => socket.end())
    },
  })
  await service.partner.post('/webhooks/subscriptions', {
    url: `https://localhost:${creature.port}/`,
    events: ['order-closed'],
  })
  const rounds = 8
  for (let i = 1; i <= rounds; i++) {
    await service.partner.post('/sandbox/events', { action: 'order-closed' })
    await eventually(async () => {
      const { body } = await service.partner.get('/webhooks/events?limit=100')
      return body.events.every((event: Body) => event.delivery_tries === 1)
    }, 'each event to be attempted')
  }
  const { body } = await service.partner.get('/webhooks/events?limit=100')
  assert.equal(body.events.length, rounds)
  for (const event of body.events) assert.equal(event.state, 'completed', event.error_reason)
  assert.equal(creature.requests(), rounds)
})

test('a connection that breaks under a request fails that attempt and is not asked again before its retry', async (t) => {
  const service = await startTestService(t, { environment: { WEBHOOK_RETRY_SCHEDULE: '1h' } })
  const creature = await startCreature(t, {
    onRequest: (socket, nth) => (nth === 1 ? void socket.write(ok) : void socket.destroy()),
  })
  await service.partner.post('/webhooks/subscriptions', {
    url: `https://localhost:${creature.port}/`,
    events: ['order-closed'],
  })
  for (const tries of [1, 2]) {
    await service.partner.post('/sandbox/events', { action: 'order-closed' })
    await eventually(async () => {
      const { body } = await service.partner.get('/webhooks/events?limit=100')
      return body.events.filter((event: Body) => event.delivery_tries === 1).length === tries
    }, 'each event to be attempted')
  }
  const { body } = await service.partner.get('/webhooks/events?limit=100')
  assert.deepEqual(
    body.events.map((event: Body) => [event.state, event.error_reason]),
    [
      ['pending', 'reset'],
      ['completed', null],
    ],
  )
  assert.equal(creature.requests(), 2)
})

test('a proxy carries deliveries, and names of private addresses do not get as far as the proxy', async (t) => {
  const creature = await startCreature(t, { onRequest: (socket) => void socket.write(ok) })
  const proxy = await startProxy(t, (target) => {
    if (target.startsWith('forbidden.test')) return { refuse: 403 }
    return target.startsWith('silent.test') ? undefined : { port: creature.port }
  })
  const addresses: Record<string, string> = { 'private.test': '10.0.0.1' }
  const service = await startTestService(t, {
    environment: { WEBHOOK_PROXY: proxy.url, WEBHOOK_TIMEOUT: '2s', WEBHOOK_RETRY_SCHEDULE: '1h' },
    resolve: async (name) => [{ address: addresses[name] ?? '8.8.8.8', family: 4 }],
  })
  const ends: Record<string, string | number> = {
    'https://proxied.test/': 200,
    'https://mixed.test:4433/': 200,
    'https://private.test/': 'blocked_address',
    'https://forbidden.test/': 'connect',
    'https://silent.test/': 'timeout',
    'https://elsewhere.test/': 'tls', // the certificate behind the proxy is for other names
  }
  for (const url of Object.keys(ends))
    await service.partner.post('/webhooks/subscriptions', { url, events: ['order-closed'] })
  await service.partner.post('/sandbox/events', { action: 'order-closed' })
  await eventually(async () => {
    const { body } = await service.partner.get('/webhooks/events?limit=100')
    return body.events.every((event: Body) => event.delivery_tries === 1)
  }, 'each event to be attempted')
  const seen: Record<string, string | number> = {}
  for (const { id } of (await service.partner.get('/webhooks/events')).body.events) {
    const { delivery_url, attempts } = (await service.partner.get(`/webhooks/events/${id}`)).body
    seen[delivery_url] = attempts[0].status ?? attempts[0].error_kind
  }
  assert.deepEqual(seen, ends)
  assert.equal(creature.requests(), 2)
  assert.ok(proxy.asked.includes('proxied.test:443') && proxy.asked.includes('mixed.test:4433'))
  assert.ok(!proxy.asked.some((target) => target.startsWith('private.test')))
  assert.equal(new Set(proxy.logins).size, 1)
  assert.equal(proxy.logins[0], `Basic ${Buffer.from('mole:hill').toString('base64')}`)
})

async function publishAndWait(service: TestService): Promise<Body> {
  const { body } = await service.partner.post('/sandbox/events', { action: 'order-closed' })
  let details: Body
  await eventually(async () => {
    details = (await service.partner.get(`/webhooks/events/${body.event_ids[0]}`)).body
    return details.delivery_tries === 1
  }, 'the event to be attempted')
  return details
}
