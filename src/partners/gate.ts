// Who is calling: the gate of the partner listener. Bearer credentials of two kinds, a secret key or a token that the partner
// signed; then the key's own limits: revoked, expired, suspended partner, rate, address, scope. Whatever is wrong with a
// credential, the answer is the same 401.
import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { listContains } from '../addresses.ts'
import type { Context } from '../context.ts'
import { fail } from '../errors.ts'
import { rawBody } from '../http/json-body.ts'
import type { Gate } from '../http/listener.ts'
import { createRateLimiter } from '../http/rate-limit.ts'
import type { Actor } from './audit.ts'
import type { Credential, Directory } from './directory.ts'
import { splitSecret } from './keys.ts'
import { insertUsedToken } from './queries.ts'
import { type TokenClaims, verifyToken } from './signed-token.ts'

export interface PartnerCaller {
  readonly partnerId: string
  readonly key: Credential
  readonly bodyHash: string | undefined // what the token says the body hashes to
}

const noHash = Buffer.alloc(32)

export function createPartnerGate(
  ctx: Context,
  directory: Directory,
  used: (keyId: string) => void,
): Gate<PartnerCaller> {
  const limiter = createRateLimiter(ctx.config.rateLimit)

  return {
    async admit(request, reply, access) {
      const identified = await identify(ctx, directory, request)
      // A caller without a valid credential draws on its address's allowance: guessing is limited too.
      const taken = limiter.take(identified ? `key ${identified.key.id}` : `address ${request.ip}`)
      reply.headers(taken.headers)
      if (taken.retryAfterSeconds !== undefined) {
        throw fail('too_many_requests', undefined, { 'retry-after': String(taken.retryAfterSeconds) })
      }
      if (!identified) throw unauthenticated()
      const { key, claims } = identified
      if (key.partnerState === 'suspended') throw fail('forbidden', 'The partner account is suspended.')
      if (key.allowed && !listContains(key.allowed, request.ip)) {
        throw fail('forbidden', `The API key may not be used from the address ${request.ip}.`)
      }
      if (!key.scopes.includes(access)) throw fail('forbidden', `The API key lacks the scope ${access}.`)
      if (claims?.jti !== undefined) {
        const fresh = await insertUsedToken(ctx.db, key.partnerId, key.id, claims.jti, claims.uselessAfter)
        if (!fresh) throw unauthenticated()
      }
      used(key.id)
      return { partnerId: key.partnerId, key, bodyHash: claims?.bodyHash }
    },
    announce: (request) => limiter.look(`address ${request.ip}`),
    checkBody(request, { bodyHash }) {
      if (bodyHash === undefined) return
      const actual = createHash('sha256').update(rawBody(request)).digest('hex')
      if (bodyHash.toLowerCase() !== actual) throw unauthenticated()
    },
  }
}

export function keyActor({ key }: PartnerCaller, request: FastifyRequest): Actor {
  return { kind: 'key', id: key.id, name: key.name, requestId: request.id }
}

async function identify(
  ctx: Context,
  directory: Directory,
  request: FastifyRequest,
): Promise<{ key: Credential; claims?: TokenClaims } | undefined> {
  const credential = /^Bearer +([\w.~+/=-]+)$/i.exec(request.headers.authorization ?? '')?.[1]
  if (credential === undefined) return undefined
  const usable = (key: Credential | undefined) =>
    key !== undefined && key.revokedAt === null && key.expiresAtMs > ctx.now().getTime() ? key : undefined

  const secret = splitSecret(credential)
  if (secret) {
    const key = await directory.credentials.get(secret.prefix)
    const matches = timingSafeEqual(secret.hash, key?.secretHash ?? noHash)
    const found = matches ? usable(key) : undefined
    return found && { key: found }
  }
  const verified = await verifyToken(credential, request, ctx.now(), async (keyId) =>
    usable(await directory.credentials.get(keyId)),
  )
  return verified
}

function unauthenticated() {
  return fail('auth_required', undefined, { 'www-authenticate': 'Bearer' })
}
