// Who is calling: the gate of the partner listener. Bearer credentials of two kinds, a secret key or a token that the partner
// signed, or the cookie of a console session, which is worth what its key is worth; then the key's own limits: revoked, expired,
// suspended partner, rate, address, scope. Whatever is wrong with a credential, the answer is the same 401.
import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { listContains } from '../addresses.ts'
import type { Context } from '../context.ts'
import { fail } from '../errors.ts'
import { refuseForgery, type SessionCookie } from '../http/cookies.ts'
import { rawBody } from '../http/json-body.ts'
import type { Gate } from '../http/listener.ts'
import { createRateLimiter } from '../http/rate-limit.ts'
import type { Actor } from './audit.ts'
import type { Credential, Directory } from './directory.ts'
import { splitSecret } from './keys.ts'
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
    async admit(request, reply, access) {
      const identified = await identify(request)
      // A caller without a valid credential draws on its address's allowance: guessing is limited too.
      const taken = limiter.take(identified ? `key ${identified.key.id}` : `address ${request.ip}`)
      reply.headers(taken.headers)
      try {
        refuseTooMany(taken.retryAfterSeconds)
        if (!identified) throw unauthenticated()
        if (identified.session) reply.header('cache-control', 'no-store') // shared caches know no cookies
        await permit(identified, request, access)
      } catch (error) {
        if (identified) refused.set(request, identified.key)
        throw error
      }
      const { key, claims, session } = identified
      used(key.id)
      return { partnerId: key.partnerId, key, bodyHash: claims?.bodyHash, session }
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

  async function identify(request: FastifyRequest): Promise<Identified | undefined> {
    if (request.headers.authorization === undefined) return identifySession(request)
    const credential = /^Bearer +([\w.~+/=-]+)$/i.exec(request.headers.authorization)?.[1]
    if (credential === undefined) return undefined
    const secret = splitSecret(credential)
    if (secret) {
      const key = await directory.credentials.get(secret.prefix)
      const matches = timingSafeEqual(secret.hash, key?.secretHash ?? noHash)
      const found = matches ? usable(key) : undefined
      return found && { key: found }
    }
    return verifyToken(credential, request, ctx.now(), async (keyId) => usable(await directory.credentials.get(keyId)))
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

  async function permit({ key, claims, session }: Identified, request: FastifyRequest, access: string): Promise<void> {
    if (session) refuseForgery(request, ctx.config.publicUrl)
    checkKey(key, request)
    if (access === ownSession) {
      if (!session) throw unauthenticated()
    } else if (!key.scopes.includes(access)) throw fail('forbidden', `The API key lacks the scope ${access}.`)
    if (claims?.jti !== undefined) {
      const fresh = await insertUsedToken(ctx.db, key.partnerId, key.id, claims.jti, claims.uselessAfter)
      if (!fresh) throw unauthenticated()
    }
  }
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
