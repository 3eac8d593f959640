// The demo believes a webhook only when the signature, the recipient, the time, the body and the event are right.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { createLocalJWKSet, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import { verifyWebhook } from '../../src/cli/demo-receiver.ts'

const { publicKey, privateKey } = await generateKeyPair('ES256')
const published = createLocalJWKSet({ keys: [{ ...(await exportJWK(publicKey)), kid: 'sig_1', alg: 'ES256' }] })
const body = Buffer.from('{"id": "evt_1", "amount": "10000.00"}')
const now = Math.floor(Date.now() / 1_000)
const claims = { sub: 'evt_1', aud: 'sub_1', digest: sha256(body), iat: now, exp: now + 300 }

test('a webhook as the service sends it is believed', async () => {
  const verdict = await verify({})
  assert.equal(verdict.ok, true)
  assert.deepEqual(verdict.ok && verdict.claims, claims)
})

for (const [what, change, why] of [
  [
    'whose body was changed',
    { body: Buffer.from('{"id": "evt_1", "amount": "90000.00"}') },
    /not the one that was signed/,
  ],
  ['with one space more', { body: Buffer.concat([body, Buffer.from(' ')]) }, /body is not the one that was signed/],
  ['for another subscription', { claims: { aud: 'sub_2' } }, /unexpected "aud"/],
  ['that is too old', { claims: { iat: now - 400, exp: now - 100 } }, /"exp" claim timestamp check failed/],
  ['that never expires', { claims: { exp: undefined } }, /missing required "exp"/],
  ['without a digest', { claims: { digest: undefined } }, /missing required "digest"/],
  ['about another event', { claims: { sub: 'evt_2' } }, /event is not the one that was signed/],
  ['with another event id in its header', { headers: { 'x-event-id': 'evt_2' } }, /event is not the one/],
  ['signed by somebody else', { key: (await generateKeyPair('ES256')).privateKey }, /signature verification failed/],
  ['without a signature', { headers: { 'x-jwt-signature': undefined } }, /no signature/],
  ['with something else for a signature', { headers: { 'x-jwt-signature': 'a.b.c' } }, /./],
] as [string, Change, RegExp][]) {
  test(`a webhook ${what} is not believed`, async () => {
    const verdict = await verify(change)
    assert.ok(!verdict.ok)
    assert.match(verdict.why, why)
  })
}

interface Change {
  readonly body?: Buffer
  readonly claims?: JWTPayload
  readonly headers?: Record<string, string | undefined>
  readonly key?: CryptoKey
}

async function verify({ body: sent = body, claims: other = {}, headers = {}, key = privateKey }: Change) {
  const signature = await new SignJWT({ ...claims, ...other })
    .setProtectedHeader({ alg: 'ES256', kid: 'sig_1', typ: 'JWT' })
    .sign(key)
  const sentHeaders = { 'x-jwt-signature': signature, 'x-event-id': 'evt_1', ...headers }
  return verifyWebhook({ headers: sentHeaders, body: sent }, published, 'sub_1')
}

function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}
