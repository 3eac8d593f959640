// Tokens that a partner signs: one algorithm per key, fresh, used once, for this request and this body. The time is the test's
// own, so that fifteen minutes pass at once.
import assert from 'node:assert/strict'
import { createHash, createSecretKey } from 'node:crypto'
import { after, test } from 'node:test'
import type { JWTPayload } from 'jose'
import { type ApiReply, createClient } from '../support/client.ts'
import { startTestService } from '../support/service.ts'
import { type Algorithm, createSigner, keyPair } from '../support/signed-tokens.ts'

const algorithms: Algorithm[] = ['RS256', 'RS512', 'ES256', 'EdDSA']
let clock = Math.floor(Date.now() / 1_000) * 1_000 // a whole second, so that limits can be met exactly
const now = () => new Date(clock)
const service = await startTestService({ after }, { now })
const { operator } = service
const partner = createClient(service.url, '/v1')
const signer = await createSigner(service, 'ES256', { now })
const seconds = () => Math.floor(clock / 1_000)

const get = (token: string) => partner.get('/partner', { token })
const tried = async (claims: JWTPayload) => (await get(await signer.sign(claims))).status
const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

function assertRefused(reply: ApiReply, why: string): void {
  const body = { error_code: 'auth_required', error_msg: 'A valid API credential is required.' }
  assert.deepEqual([reply.status, reply.body], [401, body], why)
}

for (const algorithm of algorithms) {
  test(`a token signed with ${algorithm} opens the account, and only with the key it belongs to`, async () => {
    const own = await createSigner(service, algorithm, { now })
    const reply = await get(await own.sign())
    assert.deepEqual([reply.status, reply.body.name], [200, 'Demo Partner'])
    const stranger = keyPair(algorithm)
    assertRefused(await get(await own.sign({}, { key: stranger.privateKey })), 'signed by someone else')
    const other = await createSigner(service, algorithm, { now })
    assertRefused(await get(await own.sign({ iss: other.keyId })), 'in the name of another key')
    const [head, payload, signature] = (await own.sign()).split('.')
    const forged = encode({ ...JSON.parse(Buffer.from(payload!, 'base64url').toString()), sub: 'admin' })
    assertRefused(await get(`${head}.${forged}.${signature}`), 'with claims changed afterwards')
    assertRefused(await get(`${head}.${payload}.`), 'with its signature cut off')
  })
}

test('an algorithm other than the key’s own is refused, `none` and HMAC with the public key included', async () => {
  const rsa = await createSigner(service, 'RS256', { now })
  const payload = encode({ iss: rsa.keyId, iat: seconds() })
  for (const alg of ['none', 'None', 'NONE', '']) {
    assertRefused(await get(`${encode({ alg, typ: 'JWT' })}.${payload}.`), `alg ${alg}`)
    assertRefused(await get(`${encode({ alg })}.${payload}.AAAA`), `alg ${alg} with a signature`)
  }
  for (const text of [rsa.publicPem, rsa.publicPem.trim()]) {
    const asSecret = createSecretKey(Buffer.from(text))
    for (const alg of ['HS256', 'HS512']) assertRefused(await get(await rsa.sign({}, { alg, key: asSecret })), alg)
  }
  for (const alg of ['RS512', 'PS256']) assertRefused(await get(await rsa.sign({}, { alg })), alg)
  assert.equal((await get(await rsa.sign())).status, 200)
})

test('a token is good for 15 minutes after it was issued, and at most 60 s before', async () => {
  const at = seconds()
  assert.equal(await tried({ iat: at - 15 * 60 }), 200)
  assert.equal(await tried({ iat: at - 15 * 60 - 1 }), 401)
  assert.equal(await tried({ iat: at + 60 }), 200)
  assert.equal(await tried({ iat: at + 61 }), 401)
  for (const iat of [undefined, String(at), null, {}, -1, 1e300]) {
    assert.equal(await tried({ iat: iat as number }), 401, `iat ${JSON.stringify(iat)}`)
  }
})

test('the same token stops working when 15 minutes have passed', async () => {
  const token = await signer.sign()
  assert.equal((await get(token)).status, 200)
  clock += 15 * 60_000 + 1_000
  assertRefused(await get(token), 'old')
})

test('an expiry is held to the second, and a token for later is not taken now', async () => {
  const at = seconds()
  assert.equal(await tried({ exp: at + 1 }), 200)
  assert.equal(await tried({ exp: at }), 401)
  assert.equal(await tried({ exp: at - 30 }), 401)
  assert.equal(await tried({ exp: 'never' as unknown as number }), 401)
  assert.equal(await tried({ nbf: at + 120 }), 401)
})

test('a jti is good for one request, also when many come at once, and each key has its own', async () => {
  const token = await signer.sign({ jti: 'once' })
  assert.equal((await get(token)).status, 200)
  assertRefused(await get(token), 'the same token again')
  assert.equal(await tried({ jti: 'once', exp: seconds() + 10 }), 401, 'another token with the same jti')
  const other = await createSigner(service, 'EdDSA', { now })
  assert.equal((await get(await other.sign({ jti: 'once' }))).status, 200)
  const racing = await signer.sign({ jti: 'race' })
  const statuses = await Promise.all(Array.from({ length: 20 }, async () => (await get(racing)).status))
  assert.deepEqual(statuses.sort(), [200, ...Array(19).fill(401)])
  for (const bad of ['', 'x'.repeat(201), 'nul\0', 7]) assert.equal(await tried({ jti: bad as string }), 401, `${bad}`)
})

test('a token for another method or path is refused', async () => {
  for (const htm of ['POST', 'get', '', 1]) assert.equal(await tried({ htm }), 401, `htm ${htm}`)
  assert.equal(await tried({ htm: 'GET' }), 200)
  for (const htu of [
    '/v1/partner/keys',
    '/partner',
    '/v1/partner/',
    'partner',
    '',
    5,
    'https://api.example/v1/other',
  ]) {
    assert.equal(await tried({ htu }), 401, `htu ${htu}`)
  }
  for (const htu of ['/v1/partner', '/v1/partner?x=1', `${service.url}/v1/partner`, 'https://api.example/v1/partner']) {
    assert.equal(await tried({ htu }), 200, `htu ${htu}`)
  }
})

test('a token for another body is refused and nothing is created', async () => {
  const body = JSON.stringify({ name: 'by signed token', scopes: ['partner:read'] })
  const hash = createHash('sha256').update(body).digest('hex')
  const post = async (bodyHash: unknown, sent: string) =>
    partner.call('POST', '/partner/keys', { token: await signer.sign({ bodyHash }), body: sent })
  const made = async () => {
    const { keys } = (await operator.get(`/partners/${service.demoPartnerId}/keys?limit=100`)).body
    return keys.filter((key: { name: string }) => key.name === 'by signed token').length
  }
  for (const [bodyHash, sent] of [
    [hash, body.replace('by', 'By')],
    [hash, `${body} `],
    [hash, ''],
    [createHash('sha256').update('').digest('hex'), body],
    [hash.slice(1), body],
    ['', body],
    [1, body],
  ] as const) {
    assertRefused(await post(bodyHash, sent), `bodyHash ${bodyHash} for ${sent}`)
  }
  assert.equal(await made(), 0)
  assert.equal((await post(hash, body)).status, 201)
  assert.equal((await post(hash.toUpperCase(), body)).status, 201)
  assert.equal(await made(), 2)
})

test('a key can require claims, and then no token without them gets in', async () => {
  const required = ['exp', 'jti', 'htm', 'htu', 'bodyHash']
  const strict = await createSigner(service, 'EdDSA', { now, requiredClaims: required })
  const bodyHash = createHash('sha256').update('').digest('hex')
  const claims = (jti: string) => ({ exp: seconds() + 60, jti, htm: 'GET', htu: '/v1/partner', bodyHash })
  assert.equal((await get(await strict.sign(claims('all')))).status, 200)
  for (const missing of required) {
    assertRefused(await get(await strict.sign({ ...claims(missing), [missing]: undefined })), `without ${missing}`)
  }
})

test('an iss that is no key, a secret key, or a revoked one is refused', async () => {
  const { body: secretKey } = await operator.post(`/partners/${service.demoPartnerId}/keys`, {
    name: 'secret',
    scopes: ['partner:read'],
  })
  for (const iss of [undefined, '', 'key_', `key_${'0'.repeat(26)}`, secretKey.id, secretKey.prefix, 5, ['x']]) {
    assert.equal(await tried({ iss: iss as string }), 401, `iss ${iss}`)
  }
  const gone = await createSigner(service, 'ES256', { now })
  assert.equal((await get(await gone.sign())).status, 200)
  await operator.delete(`/partners/${service.demoPartnerId}/keys/${gone.keyId}`)
  assertRefused(await get(await gone.sign()), 'revoked')
})
