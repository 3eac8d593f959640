// The address list of a key: whoever calls from elsewhere is refused, and a proxy is believed only when it is a trusted one.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startTestService, type TestService } from '../support/service.ts'

const direct = await startTestService({ after })
const behindProxy = await startTestService(
  { after },
  { environment: { TRUSTED_PROXIES: '127.0.0.1/32, 198.51.100.0/24' } },
)

async function keyFor(service: TestService, cidrs: string[]): Promise<string> {
  const wanted = { name: 'listed', scopes: ['partner:read'], allowed_cidrs: cidrs }
  const { status, body } = await service.operator.post(`/partners/${service.demoPartnerId}/keys`, wanted)
  assert.equal(status, 201, JSON.stringify(body))
  assert.deepEqual(body.allowed_cidrs, cidrs)
  return body.secret
}

async function statusFrom(service: TestService, token: string, forwardedFor?: string): Promise<number> {
  const headers = forwardedFor === undefined ? {} : { 'x-forwarded-for': forwardedFor }
  const { status, body } = await service.partner.get('/partner', { token, headers })
  if (status !== 200) assert.equal(body.error_code, 'forbidden')
  return status
}

test('a key works from the addresses on its list and from nowhere else', async () => {
  for (const inside of [
    ['127.0.0.1'],
    ['127.0.0.0/8'],
    ['10.0.0.0/8', '127.0.0.1/32'],
    ['0.0.0.0/0'],
    ['127.9.9.9/8'],
  ]) {
    assert.equal(await statusFrom(direct, await keyFor(direct, inside)), 200, inside.join())
  }
  for (const outside of [['127.0.0.2'], ['10.0.0.0/8'], ['::1/128'], ['126.0.0.0/8', '128.0.0.0/8']]) {
    assert.equal(await statusFrom(direct, await keyFor(direct, outside)), 403, outside.join())
  }
})

test('a forwarded address is not believed from a caller that is no trusted proxy', async () => {
  const elsewhere = await keyFor(direct, ['203.0.113.0/24'])
  assert.equal(await statusFrom(direct, elsewhere, '203.0.113.7'), 403)
  const here = await keyFor(direct, ['127.0.0.1'])
  assert.equal(await statusFrom(direct, here, '203.0.113.7'), 200)
})

test('behind a trusted proxy the client’s own address counts, not the proxy’s', async () => {
  const token = await keyFor(behindProxy, ['203.0.113.0/24', '2001:db8::/32'])
  assert.equal(await statusFrom(behindProxy, token), 403)
  assert.equal(await statusFrom(behindProxy, token, '203.0.113.7'), 200)
  assert.equal(await statusFrom(behindProxy, token, '2001:db8::7'), 200)
  assert.equal(await statusFrom(behindProxy, token, '::ffff:203.0.113.7'), 200)
  assert.equal(await statusFrom(behindProxy, token, '192.0.2.1'), 403)
})

test('what a client wrote into the header itself does not help it past the proxies', async () => {
  const token = await keyFor(behindProxy, ['203.0.113.0/24'])
  assert.equal(await statusFrom(behindProxy, token, '203.0.113.7, 192.0.2.1'), 403)
  assert.equal(await statusFrom(behindProxy, token, '192.0.2.1, 203.0.113.7, 198.51.100.9'), 200)
  assert.equal(await statusFrom(behindProxy, token, '203.0.113.7, 192.0.2.1, 198.51.100.9'), 403)
  for (const garbage of ['unknown', '203.0.113.7:443', '<script>', '999.1.1.1']) {
    assert.equal(await statusFrom(behindProxy, token, garbage), 403, garbage)
  }
})

test('an address list that is none is refused, naming the entry', async () => {
  for (const bad of [
    '10.0.0.0/33',
    '10.0.0',
    'localhost',
    '',
    '10.0.0.0/-1',
    '::1/129',
    'fe80::1%eth0',
    '10.0.0.0/8/8',
  ]) {
    const { status, body } = await direct.operator.post(`/partners/${direct.demoPartnerId}/keys`, {
      name: 'listed',
      scopes: ['partner:read'],
      allowed_cidrs: ['10.0.0.0/8', bad],
    })
    assert.deepEqual([status, body.error_code], [400, 'invalid_parameters'], bad)
    assert.match(body.error_msg, /^allowed_cidrs\[1\]/)
  }
})
