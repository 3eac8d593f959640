// Who is calling: the gate of the partner listener. Bearer credentials of two kinds, a secret key or a token that the partner
// signed; then the key's own limits: revoked, expired, suspended partner, rate, address, scope. Whatever is wrong with a
// credential, the answer is the same 401.
import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { listContains } from '../addresses.ts'
import type { Context } from '../context.ts'
import { fail } from '../errors.ts'
import { rawBody } from '../http/json-body.ts'
import type { Gate } from '../http/listener.ts'
import { createRateLimiter } from '../http/rate-limit.ts'
import type { Actor } from './audit.ts'
import type { Credential, Directory } from './directory.ts'
import { hashSecret, prefixOf } from './keys.ts'
import { insertUsedToken } from './queries.ts'
import { type TokenClaims, verifyToken } from './signed-token.ts'

export interface PartnerCaller {
  readonly partnerId: string
  readonly key: Credential
  readonly bodyHash: string | undefined // what the token says the body hashes to
}

interface Identified {
  readonly key: Credential
  readonly claims?: TokenClaims
}

const noHash = Buffer.alloc(32)

export function createPartnerGate(
  ctx: Context,
  directory: Directory,
  used: (keyId: string) => void,
): Gate<PartnerCaller> {
  const limiter = createRateLimiter(ctx.config.rateLimit)

  return {
    admit(request, reply, access) {
      const identified = identify(request)
      if (identified instanceof Promise) return identified.then((later) => admitted(request, reply, access, later))
      return admitted(request, reply, access, identified)
    },
    announce: (request) => limiter.look(`address ${request.ip}`),
    checkBody(request, { bodyHash }) {
      if (bodyHash === undefined) return
      const actual = createHash('sha256').update(rawBody(request)).digest('hex')
      if (bodyHash.toLowerCase() !== actual) throw unauthenticated()
    },
  }

  function admitted(
    request: FastifyRequest,
    reply: FastifyReply,
    access: string,
    identified: Identified | undefined,
  ): PartnerCaller | Promise<PartnerCaller> {
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
    const caller = { partnerId: key.partnerId, key, bodyHash: claims?.bodyHash }
    if (claims?.jti === undefined) {
      used(key.id)
      return caller
    }
    return insertUsedToken(ctx.db, key.partnerId, key.id, claims.jti, claims.uselessAfter).then((fresh) => {
      if (!fresh) throw unauthenticated()
      used(key.id)
      return caller
    })
  }

  function identify(request: FastifyRequest): Identified | undefined | Promise<Identified | undefined> {
    const credential = /^Bearer +([\w.~+/=-]+)$/i.exec(request.headers.authorization ?? '')?.[1]
    if (credential === undefined) return undefined
    const prefix = prefixOf(credential)
    if (prefix === undefined) {
      return verifyToken(credential, request, ctx.now(), async (keyId) =>
        usable(await directory.credentials.get(keyId)),
      )
    }
    const known = directory.credentials.get(prefix)
    const check = (key: Credential | undefined) => {
      const found = holdsSecret(key, credential) ? usable(key) : undefined
      return found && { key: found }
    }
    return known instanceof Promise ? known.then(check) : check(known)
  }

  function usable(key: Credential | undefined): Credential | undefined {
    return key !== undefined && key.revokedAt === null && key.expiresAtMs > ctx.now().getTime() ? key : undefined
  }
}

// A key that showed its secret once is known by it for as long as this process remembers the key: hashing costs more than everything
// else about admitting a caller. Compared in constant time, as the hashes are.
const shown = new WeakMap<Credential, Buffer>()

function holdsSecret(key: Credential | undefined, secret: string): boolean {
  const bytes = Buffer.from(secret, 'latin1') // of one length: its form was checked
  const before = key && shown.get(key)
  if (before && timingSafeEqual(before, bytes)) return true
  const matches = timingSafeEqual(hashSecret(secret), key?.secretHash ?? noHash)
  if (matches && key) shown.set(key, bytes)
  return matches
}

export function keyActor({ key }: PartnerCaller, request: FastifyRequest): Actor {
  return { kind: 'key', id: key.id, name: key.name, requestId: request.id }
}

function unauthenticated() {
  return fail('auth_required', undefined, { 'www-authenticate': 'Bearer' })
}
