// Who is calling: the gate of the partner listener. Bearer credentials of two kinds, a secret key or a token that the partner
// signed, or the cookie of a console session, which is worth what its key is worth; then the key's own limits: revoked, expired,
// suspended partner, rate, address, scope. Whatever is wrong with a credential, the answer is the same 401.
import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { listContains } from '../addresses.ts'
import type { Context } from '../context.ts'
import { fail } from '../errors.ts'
import { refuseForgery, type SessionCookie } from '../http/cookies.ts'
import { rawBody } from '../http/json-body.ts'
import type { Gate } from '../http/listener.ts'
import { createRateLimiter } from '../http/rate-limit.ts'
import type { Actor } from './audit.ts'
import type { Credential, Directory } from './directory.ts'
import { hashSecret, prefixOf } from './keys.ts'
import { insertUsedToken } from './queries.ts'
import type { RequestLog } from './request-log.ts'
import { hashSessionToken, type Session, type Sessions } from './sessions.ts'
import { type TokenClaims, verifyToken } from './signed-token.ts'

export interface PartnerCaller {
  readonly partnerId: string
  readonly key: Credential
  readonly bodyHash: string | undefined // what the token says the body hashes to
  readonly session: Session | undefined // set when a cookie vouched for the key
}

// What a route asks for that is about the session itself: no scope, but a cookie.
export const ownSession = 'session'

export interface PartnerGate extends Gate<PartnerCaller> {
  // Whether the caller would still be let in, for answers that take long.
  stillHolds(caller: PartnerCaller): Promise<boolean>
}

export interface GateDependencies {
  readonly directory: Directory
  readonly sessions: Sessions
  readonly cookie: SessionCookie
  readonly requests: RequestLog
  readonly used: (keyId: string) => void
}

interface Identified {
  readonly key: Credential
  readonly claims?: TokenClaims
  readonly session?: Session
}

const noHash = Buffer.alloc(32)

export function createPartnerGate(
  ctx: Context,
  { directory, sessions, cookie, requests, used }: GateDependencies,
): PartnerGate {
  const limiter = createRateLimiter(ctx.config.rateLimit)
  const refused = new WeakMap<FastifyRequest, Credential>() // known callers that were not let in
  const usable = (key: Credential | undefined) =>
    key !== undefined && key.revokedAt === null && key.expiresAtMs > ctx.now().getTime() ? key : undefined

  return {
    admit(request, reply, access) {
      const identified = identify(request)
      if (identified instanceof Promise) return identified.then((later) => admitted(later, request, reply, access))
      return admitted(identified, request, reply, access)
    },
    welcome(request, reply) {
      const taken = limiter.take(`address ${request.ip}`)
      reply.headers(taken.headers)
      refuseTooMany(taken.retryAfterSeconds)
    },
    announce: (request) => limiter.look(`address ${request.ip}`),
    checkBody(request, { bodyHash }) {
      if (bodyHash === undefined) return
      const actual = createHash('sha256').update(rawBody(request)).digest('hex')
      if (bodyHash.toLowerCase() !== actual) throw unauthenticated()
    },
    answered(request, answer, caller) {
      const key = caller?.key ?? refused.get(request)
      if (key) requests.note(request, answer, key)
    },
    async stillHolds({ key, session }) {
      const known = usable(await directory.credentials.get(key.id))
      if (!known || known.partnerState === 'suspended') return false
      return session === undefined || (await findSession(session.tokenHash)) !== undefined
    },
  }

  function identify(request: FastifyRequest): Identified | undefined | Promise<Identified | undefined> {
    if (request.headers.authorization === undefined) return identifySession(request)
    const credential = /^Bearer +([\w.~+/=-]+)$/i.exec(request.headers.authorization)?.[1]
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

  async function identifySession(request: FastifyRequest): Promise<Identified | undefined> {
    const token = cookie.read(request)
    const session = token === undefined ? undefined : await findSession(hashSessionToken(token))
    const key = session && usable(await directory.credentials.get(session.keyId))
    return key && { key, session }
  }

  async function findSession(tokenHash: string): Promise<Session | undefined> {
    const session = await sessions.get(tokenHash)
    return session && session.expiresAtMs > ctx.now().getTime() ? session : undefined
  }

  function admitted(
    identified: Identified | undefined,
    request: FastifyRequest,
    reply: FastifyReply,
    access: string,
  ): PartnerCaller | Promise<PartnerCaller> {
    // A caller without a valid credential draws on its address's allowance: guessing is limited too.
    const taken = limiter.take(identified ? `key ${identified.key.id}` : `address ${request.ip}`)
    reply.headers(taken.headers)
    try {
      refuseTooMany(taken.retryAfterSeconds)
      if (!identified) throw unauthenticated()
      if (identified.session) reply.header('cache-control', 'no-store') // shared caches know no cookies
      permit(identified, request, access)
    } catch (error) {
      if (identified) refused.set(request, identified.key)
      throw error
    }
    const { key, claims, session } = identified
    const caller = { partnerId: key.partnerId, key, bodyHash: claims?.bodyHash, session }
    if (claims?.jti !== undefined) return firstUse(caller, request, claims)
    used(key.id)
    return caller
  }

  async function firstUse(caller: PartnerCaller, request: FastifyRequest, { jti, uselessAfter }: TokenClaims) {
    const fresh = await insertUsedToken(ctx.db, caller.partnerId, caller.key.id, jti!, uselessAfter)
    if (!fresh) {
      refused.set(request, caller.key)
      throw unauthenticated()
    }
    used(caller.key.id)
    return caller
  }

  function permit({ key, session }: Identified, request: FastifyRequest, access: string): void {
    if (session) refuseForgery(request, ctx.config.publicUrl)
    checkKey(key, request)
    if (access === ownSession) {
      if (!session) throw unauthenticated()
    } else if (!key.scopes.includes(access)) throw fail('forbidden', `The API key lacks the scope ${access}.`)
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

// Where a key may be used, apart from what for.
export function checkKey(key: Credential, request: FastifyRequest): void {
  if (key.partnerState === 'suspended') throw fail('forbidden', 'The partner account is suspended.')
  if (key.allowed && !listContains(key.allowed, request.ip)) {
    throw fail('forbidden', `The API key may not be used from the address ${request.ip}.`)
  }
}

export function keyActor({ key }: Pick<PartnerCaller, 'key'>, request: FastifyRequest): Actor {
  return { kind: 'key', id: key.id, name: key.name, requestId: request.id }
}

function refuseTooMany(retryAfterSeconds: number | undefined): void {
  if (retryAfterSeconds === undefined) return
  throw fail('too_many_requests', undefined, { 'retry-after': String(retryAfterSeconds) })
}

export function unauthenticated() {
  return fail('auth_required', undefined, { 'www-authenticate': 'Bearer' })
}
