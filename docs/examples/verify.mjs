// Verifies a webhook: the signature, for whom it was meant, how old it is, and that the body is the one that was signed.
import { createHash } from 'node:crypto'
import { createRemoteJWKSet, jwtVerify } from 'jose'

// One for the whole process: it caches the keys and fetches them again when it meets an unknown one.
const keys = createRemoteJWKSet(new URL(process.env.JWKS_URL ?? 'http://localhost:8080/.well-known/jwks.json'))

// `body` is the bytes as they arrived, before any JSON parser saw them.
export async function verifyWebhook(headers, body, subscriptionId) {
  const { payload } = await jwtVerify(headers['x-jwt-signature'], keys, { audience: subscriptionId })
  const digest = createHash('sha256').update(body).digest('hex')
  if (payload.digest !== digest) throw new Error('the body is not the one that was signed')
  return JSON.parse(body) // its `id` is the same on every attempt: remember it, and act once
}
