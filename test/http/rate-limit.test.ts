// The rate limit: each key has its own allowance, every answer says what is left, and past it the answer is 429 with a time to
// wait. Guessing credentials has a limit too.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ApiReply } from '../support/client.ts'
import { startTestService, type TestService } from '../support/service.ts'

const roomy = await startTestService({ after }, { environment: { RATE_LIMIT: '5:1000' } })
const tight = await startTestService({ after }, { environment: { RATE_LIMIT: '1:2' } })

async function newKey(service: TestService, scopes = ['partner:read']): Promise<string> {
  const { body } = await service.operator.post(`/partners/${service.demoPartnerId}/keys`, { name: 'k', scopes })
  return body.secret
}

function remaining({ headers }: ApiReply): number {
  return Number(/^"default";r=(\d+);t=\d+$/.exec(headers.get('ratelimit') ?? '')?.[1])
}

async function until429(ask: () => Promise<ApiReply>): Promise<ApiReply> {
  for (let i = 0; i < 50; i++) {
    const replies = await Promise.all(Array.from({ length: 20 }, ask))
    const refused = replies.find((reply) => reply.status === 429)
    if (refused) return refused
  }
  throw new Error('a thousand requests went through')
}

test('every answer to a partner tells the policy and what is left of it', async () => {
  const keeper = await newKey(roomy, ['keys:write'])
  for (const [reply, status] of [
    [await roomy.partner.get('/partner'), 200],
    [await roomy.partner.get('/partner', { headers: { 'if-none-match': '*' } }), 304],
    [await roomy.partner.post('/partner/keys', '{'), 400],
    [await roomy.partner.get('/partner', { token: 'wrong' }), 401],
    [await roomy.partner.get('/partner', { token: keeper }), 403],
    [await roomy.partner.delete('/partner/keys/key_0'), 404],
  ] as const) {
    assert.equal(reply.status, status)
    assert.equal(reply.headers.get('ratelimit-policy'), '"default";q=1000;w=200')
    assert.ok(remaining(reply) > 0 && remaining(reply) < 1_000, reply.headers.get('ratelimit')!)
  }
})

test('requests use up the allowance, with and without the prefix alike', async () => {
  const token = await newKey(roomy)
  const first = remaining(await roomy.partner.get('/partner', { token }))
  assert.equal(first, 999)
  const replies = await Promise.all(Array.from({ length: 200 }, () => roomy.partner.get('/partner', { token })))
  const left = Math.min(...replies.map(remaining))
  assert.ok(left < first, `${left} are left`)
  const unprefixed = await fetch(`${roomy.url}/partner`, { headers: { authorization: `Bearer ${token}` } })
  assert.match(unprefixed.headers.get('ratelimit')!, /^"default";r=\d{1,3};/)
})

test('past the limit the answer is 429 with Retry-After, and after waiting that long it is 200 again', async () => {
  const token = await newKey(tight)
  const reply = await until429(() => tight.partner.get('/partner', { token }))
  assert.deepEqual(reply.body, {
    error_code: 'too_many_requests',
    error_msg: 'Too many requests; slow down and retry later.',
  })
  assert.equal(reply.headers.get('retry-after'), '1')
  assert.equal(remaining(reply), 0)
  assert.equal(reply.headers.get('ratelimit-policy'), '"default";q=2;w=2')
  let again = reply
  for (let i = 0; i < 30 && again.status === 429; i++) {
    await sleep(Number(reply.headers.get('retry-after')) * 1_000)
    again = await tight.partner.get('/partner', { token })
  }
  assert.equal(again.status, 200)
})

test('one key at its limit does not touch another of the same partner', async () => {
  const [busy, calm] = [await newKey(tight), await newKey(tight)]
  await until429(() => tight.partner.get('/partner', { token: busy }))
  assert.equal((await tight.partner.get('/partner', { token: calm })).status, 200)
})

test('a request past the limit does nothing', async () => {
  const token = await newKey(tight, ['partner:read', 'keys:write'])
  await until429(() => tight.partner.get('/partner', { token }))
  const attempts = await Promise.all(
    Array.from({ length: 20 }, () =>
      tight.partner.post('/partner/keys', { name: 'late', scopes: ['partner:read'] }, { token }),
    ),
  )
  const made = attempts.filter((reply) => reply.status === 201).length
  assert.ok(attempts.some((reply) => reply.status === 429))
  const { keys } = (await tight.operator.get(`/partners/${tight.demoPartnerId}/keys?limit=100`)).body
  assert.equal(keys.filter((key: { name: string }) => key.name === 'late').length, made)
})

test('guessing runs into the limit of the address, while those who know their key go on', async () => {
  const guess = () => tight.partner.get('/partner', { token: `psk_000000000000_${'0'.repeat(32)}` })
  assert.equal((await until429(guess)).headers.get('retry-after'), '1')
  assert.equal((await tight.partner.get('/partner', { token: await newKey(tight) })).status, 200)
})
