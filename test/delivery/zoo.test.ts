// Hostile endpoints, all at once, beside healthy ones: each ends in the right outcome within the deadline, and none of them
// costs a healthy endpoint anything. About 20 s on each database, most of it waiting for the deadline of those that hang.
import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import type { Resolve } from '../../src/delivery/connector.ts'
import { createAuthority } from '../support/certificates.ts'
import type { Body } from '../support/client.ts'
import { eventually, startEndpoint, testAuthority } from '../support/endpoint.ts'
import { freePort } from '../support/postgres.ts'
import { startTestService } from '../support/service.ts'
import { type Behaviour, type Creature, drip, flood, startCreature } from '../support/zoo.ts'

const timeoutMs = 12_000
const day = 86_400_000
const healthyEndpoints = 3
const eventsForEach = 20
const mostGrowthBytes = 400 * 1024 * 1024
const ok = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'

interface Kept {
  readonly behaviour: Behaviour
  readonly ends: number | string // a status, or the kind of the error
  readonly hangs?: true // keeps its connection open until the deadline
  readonly body?: (text: string) => void
}

const answers = (bytes: string | Buffer) => (socket: Socket) => void socket.write(bytes)
const closes = (bytes: string) => (socket: Socket) => void socket.end(bytes)

async function animals(trapPort: number): Promise<Record<string, Kept>> {
  const authority = await testAuthority()
  const stranger = await createAuthority()
  const bomb = gzipSync(Buffer.alloc(50_000_000))
  const page = Buffer.alloc(64 * 1024, 'x')
  return {
    'accepts and says nothing': { behaviour: { tls: false }, ends: 'timeout', hangs: true },
    'shakes hands and says nothing': { behaviour: {}, ends: 'timeout', hangs: true },
    'begins the handshake a byte at a time': {
      behaviour: { tls: false, onConnection: (socket) => drip(socket, '\x16\x03\x03\x10\x00\x02', 1_000) },
      ends: 'timeout',
      hangs: true,
    },
    'drips the status line': {
      behaviour: { onRequest: (socket) => drip(socket, ok, 1_000) },
      ends: 'timeout',
      hangs: true,
    },
    'drips headers after the status line': {
      behaviour: {
        onRequest(socket) {
          socket.write('HTTP/1.1 200 OK\r\n')
          drip(socket, 'x-slow: '.padEnd(100, 'y'), 1_000)
        },
      },
      ends: 'timeout',
      hangs: true,
    },
    'answers, then drips the body': {
      behaviour: {
        onRequest(socket) {
          socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n')
          drip(socket, 'z'.repeat(100), 1_000)
        },
      },
      ends: 200,
      hangs: true,
      body: (text) => assert.match(text, /^z{3,50}$/),
    },
    'answers after the deadline': {
      behaviour: { onRequest: (socket) => void setTimeout(() => socket.write(ok), timeoutMs + 1_500).unref() },
      ends: 'timeout',
      hangs: true,
    },
    'sends informational answers for ever': {
      behaviour: {
        onRequest(socket) {
          const timer = setInterval(() => socket.write('HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'), 50).unref()
          socket.once('close', () => clearInterval(timer))
        },
      },
      ends: 'timeout',
      hangs: true,
    },
    'has an endless body': {
      behaviour: {
        onRequest(socket) {
          socket.write('HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n')
          flood(socket, page)
        },
      },
      ends: 200,
      body: (text) => assert.equal(text, 'x'.repeat(16 * 1024)),
    },
    'has a huge header': {
      behaviour: { onRequest: answers(`HTTP/1.1 200 OK\r\nx-huge: ${'h'.repeat(1_000_000)}\r\n\r\n`) },
      ends: 'protocol',
    },
    'has endless headers': {
      behaviour: {
        onRequest(socket) {
          socket.write('HTTP/1.1 200 OK\r\n')
          flood(socket, Buffer.from('x-more: and more\r\n'.repeat(100)))
        },
      },
      ends: 'protocol',
    },
    'has endless trailers': {
      behaviour: {
        onRequest(socket) {
          socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n')
          flood(socket, Buffer.from('x-more: and more\r\n'.repeat(100)))
        },
      },
      ends: 200,
    },
    'sends a bomb': {
      behaviour: {
        onRequest(socket) {
          socket.write(`HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`)
          socket.write(bomb)
        },
      },
      ends: 200,
      body: (text) => assert.ok(text.length > 0 && text.length <= 16 * 1024),
    },
    'closes in the status line': { behaviour: { onRequest: closes('HTTP/1.1 20') }, ends: 'reset' },
    'closes in the headers': { behaviour: { onRequest: closes('HTTP/1.1 200 OK\r\nx-half: ') }, ends: 'reset' },
    'closes in the body': {
      behaviour: { onRequest: closes('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf') },
      ends: 200,
      body: (text) => assert.equal(text, 'half'),
    },
    'breaks the framing of the body': {
      behaviour: { onRequest: answers('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nnot-a-length\r\n') },
      ends: 200,
    },
    'ends its side after the request': { behaviour: { onRequest: (socket) => void socket.end() }, ends: 'reset' },
    'resets after the request': { behaviour: { onRequest: (socket) => void socket.destroy() }, ends: 'reset' },
    'closes in the handshake': {
      behaviour: { tls: false, onConnection: (socket) => void socket.once('data', () => socket.destroy()) },
      ends: 'reset',
    },
    'is signed by itself': {
      behaviour: { tls: await stranger.issue(['localhost']), onRequest: answers(ok) },
      ends: 'tls',
    },
    'has expired': {
      behaviour: { tls: await authority.issue(['localhost'], new Date(Date.now() - day)), onRequest: answers(ok) },
      ends: 'tls',
    },
    'has another name': {
      behaviour: { tls: await authority.issue(['elsewhere.test']), onRequest: answers(ok) },
      ends: 'tls',
    },
    'speaks without TLS': {
      behaviour: { tls: false, onConnection: (socket) => void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n') },
      ends: 'tls',
    },
    'redirects to a private address': {
      behaviour: {
        onRequest: answers('HTTP/1.1 302 Found\r\nlocation: https://10.0.0.1/hook\r\ncontent-length: 0\r\n\r\n'),
      },
      ends: 302,
    },
    'redirects to another endpoint': {
      behaviour: {
        onRequest: answers(`HTTP/1.1 307 Go\r\nlocation: https://localhost:${trapPort}/\r\ncontent-length: 0\r\n\r\n`),
      },
      ends: 307,
    },
    'speaks garbage': { behaviour: { onRequest: answers('SSH-2.0-OpenSSH_9.9\r\n') }, ends: 'protocol' },
    'has two lengths': {
      behaviour: {
        onRequest: answers('HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n'),
      },
      ends: 'protocol',
    },
    'switches protocols': {
      behaviour: { onRequest: answers('HTTP/1.1 101 Switching\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n') },
      ends: 'protocol',
    },
    'speaks HTTP/1.0': { behaviour: { onRequest: closes('HTTP/1.0 200 OK\r\n\r\nold') }, ends: 200 },
    'informs first': {
      behaviour: { onRequest: answers(`HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n${ok}`) },
      ends: 200,
    },
    'has no content': { behaviour: { onRequest: answers('HTTP/1.1 204 No Content\r\n\r\n') }, ends: 204 },
    'answers twice': { behaviour: { onRequest: answers(ok + ok) }, ends: 200 },
  }
}

test('each hostile endpoint ends in its own outcome within the deadline, and healthy ones do not notice', async (t) => {
  const resolve: Resolve = async (name) => {
    const at = (...addresses: string[]) => addresses.map((address) => ({ address, family: 4 }))
    if (name === 'mixed.test') return at('127.0.0.1', '10.0.0.1')
    if (name === 'empty.test') return []
    if (name === 'silent.test') return new Promise(() => {})
    if (name === 'localhost') return at('127.0.0.1')
    throw Object.assign(new Error(`${name} is unknown`), { code: 'ENOTFOUND' })
  }
  const service = await startTestService(t, {
    resolve,
    environment: { WEBHOOK_TIMEOUT: `${timeoutMs}ms`, WEBHOOK_RETRY_SCHEDULE: '1h' },
  })
  const trap = await startEndpoint(t)
  const zoo = await animals(trap.port)
  const creatures = new Map<string, Creature>()
  const urls = new Map<string, string>()
  for (const [name, { behaviour }] of Object.entries(zoo)) {
    const creature = await startCreature(t, behaviour)
    creatures.set(name, creature)
    urls.set(name, `https://localhost:${creature.port}/`)
  }
  const ends = new Map(Object.entries(zoo).map(([name, { ends }]) => [name, ends]))
  const also = (name: string, url: string, end: number | string) => urls.set(name, url) && ends.set(name, end)
  also('refuses', `https://localhost:${await freePort()}/`, 'connect')
  also('has no address', 'https://missing.test/', 'dns')
  also('resolves to nothing', 'https://empty.test/', 'dns')
  also('never resolves', 'https://silent.test/', 'timeout')
  also('has a private address beside its public one', `https://mixed.test:${trap.port}/`, 'blocked_address')

  const subscribe = async (url: string, action: string) =>
    (await service.partner.post('/webhooks/subscriptions', { url, events: [action] })).body.id as string
  const subscriptions = new Map<string, string>()
  for (const [name, url] of urls) subscriptions.set(name, await subscribe(url, 'order-closed'))
  const healthy = await Promise.all(Array.from({ length: healthyEndpoints }, () => startEndpoint(t)))
  for (const { url } of healthy) await subscribe(url, 'order-updated')

  const before = process.memoryUsage().rss
  await service.partner.post('/sandbox/events', { action: 'order-closed' })
  const hung = [...creatures].filter(([name]) => zoo[name]!.hangs).map(([, creature]) => creature)
  await eventually(() => hung.every((creature) => creature.open() > 0), 'the hung endpoints to be connected to')
  for (let i = 0; i < eventsForEach; i++) await service.partner.post('/sandbox/events', { action: 'order-updated' })
  await eventually(async () => {
    const { body } = await service.partner.get('/webhooks/events?action=order-updated&state=completed&limit=100')
    return body.events.length === healthyEndpoints * eventsForEach
  }, 'the healthy endpoints to have everything')
  assert.deepEqual(
    hung.filter((creature) => creature.open() === 0),
    [],
    'the hung ones are still open',
  )

  const findings = new Map<string, Body>()
  for (const [name, id] of subscriptions) {
    await eventually(async () => {
      const found = (await service.partner.get(`/webhooks/events?subscription_id=${id}`)).body.events[0]
      if (found?.delivery_tries !== 1) return false
      findings.set(name, (await service.partner.get(`/webhooks/events/${found.id}`)).body)
      return true
    }, `an attempt at the endpoint that ${name}`)
  }
  const seen = new Map(
    [...findings].map(([name, { attempts }]) => [name, attempts[0].status ?? attempts[0].error_kind]),
  )
  assert.deepEqual(Object.fromEntries(seen), Object.fromEntries(ends))
  for (const [name, { attempts, state }] of findings) {
    assert.equal(attempts.length, 1, name)
    assert.ok(attempts[0].duration_ms < timeoutMs + 10_000, `${name}: ${attempts[0].duration_ms} ms`)
    assert.equal(state, /^2/.test(String(ends.get(name))) ? 'completed' : 'pending', name)
    zoo[name]?.body?.(attempts[0].response_body)
  }
  assert.equal(trap.received.length, 0, 'nothing arrives where a redirect or a mixed name leads')
  for (const name of ['ends its side after the request', 'resets after the request'])
    assert.equal(creatures.get(name)!.requests(), 1, 'a fresh connection that breaks is not tried twice')
  // A drip or a flood that nobody reads would keep its connection; what is dropped is dropped at once.
  await eventually(
    () => [...creatures.values()].every((creature) => creature.open() <= 1),
    'connections to be dropped or kept for later',
  )
  const growth = process.memoryUsage().rss - before
  assert.ok(growth < mostGrowthBytes, `memory grew by ${growth} bytes`)
})
