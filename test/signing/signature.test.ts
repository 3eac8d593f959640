// X-JWT-SIGNATURE as a receiver checks it: with a general JWT library against the served JWKS. Costs about 7 s on each database.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, test } from 'node:test'
import { createLocalJWKSet, createRemoteJWKSet, decodeProtectedHeader, type JWTPayload, jwtVerify } from 'jose'
import { type Received, startEndpoint } from '../support/endpoint.ts'
import { newPartner, publish, subscribe, untilEvent, untilFinished } from '../support/partner.ts'
import { startTestService, type TestService } from '../support/service.ts'

const service = await startTestService({ after }, { environment: { WEBHOOK_RETRY_SCHEDULE: '50ms' } })
const signatureOf = ({ headers }: Received) => headers['x-jwt-signature'] as string

// What the documentation tells receivers to do.
async function verify(
  { url }: Pick<TestService, 'url'>,
  token: string,
  body: Buffer,
  options: { audience: string; currentDate?: Date },
): Promise<JWTPayload> {
  const keys = createRemoteJWKSet(new URL(`${url}/.well-known/jwks.json`))
  const { payload } = await jwtVerify(token, keys, options)
  assert.equal(payload.digest, createHash('sha256').update(body).digest('hex'), 'digest')
  return payload
}

for (const algorithm of ['ES256', 'EdDSA', 'RS512']) {
  test(`${algorithm}: header and claims are as promised and verify against the JWKS`, async (t) => {
    const signing = await startTestService(t, { environment: { SIGNING_ALGORITHM: algorithm } })
    const endpoint = await startEndpoint(t)
    const partner = await newPartner(signing)
    const { id: subscriptionId } = await subscribe(partner.api, endpoint.url)
    const before = Math.floor(Date.now() / 1_000)
    const [eventId] = await publish(signing, partner.id)
    const [received] = await endpoint.until(1)
    const token = signatureOf(received!)
    const payload = await verify(signing, token, received!.body, { audience: subscriptionId })
    const { alg, kid, typ, ...moreHeaders } = decodeProtectedHeader(token)
    assert.deepEqual([alg, typ, moreHeaders], [algorithm, 'JWT', {}])
    assert.match(kid!, /^sig_[0-9a-z]{26}$/)
    assert.deepEqual(Object.keys(payload), ['iss', 'iat', 'exp', 'jti', 'sub', 'aud', 'digest'])
    assert.equal(payload.iss, 'partner-service/sandbox')
    assert.ok(payload.iat! >= before && payload.iat! <= Date.now() / 1_000)
    assert.equal(payload.exp, payload.iat! + 300)
    assert.match(payload.jti!, /^[0-9a-z]{26}$/)
    assert.deepEqual([payload.sub, payload.aud], [eventId, subscriptionId])
    assert.match(payload.digest as string, /^[0-9a-f]{64}$/)
    const { keys } = (await (await fetch(`${signing.url}/.well-known/jwks.json`)).json()) as { keys: { kid: string }[] }
    const members = { ES256: ['kty', 'x', 'y', 'crv'], EdDSA: ['crv', 'x', 'kty'], RS512: ['kty', 'n', 'e'] }[
      algorithm
    ]!
    assert.deepEqual(
      keys.map((key) => new Set(Object.keys(key))),
      [new Set([...members, 'kid', 'alg', 'use'])],
      'public members only',
    )
    assert.equal(keys[0]!.kid, kid)
  })
}

test('a changed body, another audience, an old token, a changed token and a foreign key all fail', async (t) => {
  const endpoint = await startEndpoint(t)
  const partner = await newPartner(service)
  const { id: audience } = await subscribe(partner.api, endpoint.url)
  const other = await subscribe(partner.api, `${endpoint.url}/other`, { events: ['order-updated'] })
  await publish(service, partner.id)
  const [received] = await endpoint.until(1)
  const token = signatureOf(received!)
  const { body } = received!
  const { iat } = await verify(service, token, body, { audience })
  await verify(service, token, body, { audience, currentDate: new Date((iat! + 299) * 1_000) })

  const changed = Buffer.from(body.toString().replace('completed', 'cancelled'))
  assert.notDeepEqual(changed, body)
  await assert.rejects(verify(service, token, changed, { audience }), /digest/)
  await assert.rejects(verify(service, token, body, { audience: other.id }), {
    code: 'ERR_JWT_CLAIM_VALIDATION_FAILED',
  })
  await assert.rejects(verify(service, token, body, { audience, currentDate: new Date((iat! + 301) * 1_000) }), {
    code: 'ERR_JWT_EXPIRED',
  })
  const [header, claims, signature] = token.split('.')
  const forged = Buffer.from(
    Buffer.from(claims!, 'base64url')
      .toString()
      .replace(/"exp":\d+/, '"exp":99999999999'),
  ).toString('base64url')
  await assert.rejects(verify(service, `${header}.${forged}.${signature}`, body, { audience }), {
    code: 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED',
  })
  const stranger = await startTestService(t)
  await assert.rejects(verify(stranger, token, body, { audience }), { code: 'ERR_JWKS_NO_MATCHING_KEY' })
})

test('every attempt has a signature of its own, and the headers that were promised', async (t) => {
  const endpoint = await startEndpoint(t)
  const partner = await newPartner(service)
  const { id: audience } = await subscribe(partner.api, endpoint.url)
  endpoint.answer = () => (endpoint.received.length === 1 ? 500 : 200)
  const [eventId] = await publish(service, partner.id)
  await untilEvent(partner.api, eventId!, (event) => event.delivery_tries === 2)
  await untilFinished(partner.api, eventId!)
  await partner.api.post(`/webhooks/events/${eventId}/resend`)
  const received = await endpoint.until(3)
  const payloads = await Promise.all(
    received.map((each) => verify(service, signatureOf(each), each.body, { audience })),
  )
  assert.equal(new Set(payloads.map((each) => each.jti)).size, 3)
  for (const [i, { headers, body }] of received.entries()) {
    assert.equal(headers['content-type'], 'application/json')
    assert.match(headers['user-agent']!, /^partner-service\/\d+\.\d+\.\d+/)
    assert.equal(headers['x-event-id'], eventId)
    assert.equal(headers['x-event-type'], 'order-closed')
    assert.equal(headers['x-attempt-number'], String(i + 1))
    assert.equal(headers['content-length'], String(body.length))
  }
})

test('the JWKS needs no credential and may be cached for five minutes', async () => {
  const response = await fetch(`${service.url}/.well-known/jwks.json`)
  assert.equal(response.status, 200)
  assert.equal(response.headers.get('cache-control'), 'public, max-age=300')
  assert.match(response.headers.get('content-type')!, /^application\/json/)
  const jwks = (await response.json()) as Parameters<typeof createLocalJWKSet>[0]
  assert.equal(jwks.keys.length, 1)
  createLocalJWKSet(jwks)
  assert.equal((await fetch(`${service.url}/v1/.well-known/jwks.json`)).status, 404)
})
