// A partner that signs its own tokens: a key pair, the API key that knows its public half, and tokens made with `jose`.
import assert from 'node:assert/strict'
import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { type JWTPayload, SignJWT } from 'jose'
import type { TestService } from './service.ts'

export type Algorithm = 'RS256' | 'RS512' | 'ES256' | 'EdDSA'

export interface Signer {
  readonly keyId: string
  readonly algorithm: Algorithm
  readonly publicPem: string
  readonly privateKey: KeyObject
  // `iss` and `iat` are filled in unless given; `undefined` leaves a claim out.
  sign(claims?: JWTPayload, header?: { alg?: string; key?: KeyObject | Uint8Array }): Promise<string>
}

export function keyPair(algorithm: Algorithm): { publicPem: string; privateKey: KeyObject } {
  const { publicKey, privateKey } =
    algorithm === 'ES256'
      ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
      : algorithm === 'EdDSA'
        ? generateKeyPairSync('ed25519')
        : generateKeyPairSync('rsa', { modulusLength: 2048 })
  return { publicPem: publicKey.export({ type: 'spki', format: 'pem' }).toString(), privateKey }
}

export async function createSigner(
  service: TestService,
  algorithm: Algorithm,
  options: { partnerId?: string; scopes?: string[]; requiredClaims?: string[]; now?: () => Date } = {},
): Promise<Signer> {
  const { publicPem, privateKey } = keyPair(algorithm)
  const { status, body } = await service.operator.post(`/partners/${options.partnerId ?? service.demoPartnerId}/keys`, {
    name: `signs ${algorithm}`,
    scopes: options.scopes ?? ['partner:read', 'keys:write'],
    algorithm,
    public_key: publicPem,
    required_claims: options.requiredClaims ?? [],
  })
  assert.equal(status, 201)
  const now = options.now ?? (() => new Date())
  const keyId: string = body.id
  return {
    keyId,
    algorithm,
    publicPem,
    privateKey,
    sign(claims = {}, { alg = algorithm, key = privateKey } = {}) {
      const payload = { iss: keyId, iat: Math.floor(now().getTime() / 1_000), ...claims }
      return new SignJWT(JSON.parse(JSON.stringify(payload))).setProtectedHeader({ alg }).sign(key)
    },
  }
}
