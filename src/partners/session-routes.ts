// Signing in to the console and out of it, sign-in links, and the log of requests. A link is redeemed by POST only, so that nothing
// that merely looks at addresses (a mail scanner, a preview) can use it up.
import { timingSafeEqual } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import Type from 'typebox'
import type { Context } from '../context.ts'
import type { ChangeFeed } from '../db/changes.ts'
import { fail } from '../errors.ts'
import { refuseForeignOrigin, type SessionCookie } from '../http/cookies.ts'
import { idempotently } from '../http/idempotency.ts'
import { type Route, route } from '../http/route.ts'
import { offsetMicros, utcSeconds } from '../times.ts'
import { type Credential, type Directory, toCredential } from './directory.ts'
import { checkKey, keyActor, ownSession, type PartnerCaller, unauthenticated } from './gate.ts'
import { splitSecret } from './keys.ts'
import { findCredential, findPartner } from './queries.ts'
import type { RequestLog, RequestRow } from './request-log.ts'
import { LoggedRequest, Session, SignIn, SignInLink } from './session-schema.ts'
import { beginSession, createLink, endSession, isUsable, type NewSession, takeLink } from './sessions.ts'

const partnerRoute = route<PartnerCaller>()
const noStore = { 'cache-control': 'no-store' }

export interface SessionDependencies {
  readonly directory: Directory
  readonly feed: ChangeFeed
  readonly cookie: SessionCookie
  readonly requests: RequestLog
}

export function sessionRoutes(
  ctx: Context,
  { directory, feed, cookie, requests }: SessionDependencies,
): Route<PartnerCaller>[] {
  const view = async (key: Credential, expiresAt: string) => {
    const named = key.scopes.includes('partner:read') ? await findPartner(ctx.db, key.partnerId) : undefined
    return {
      partner_id: key.partnerId,
      ...(named ? { partner_name: named.name } : {}),
      key_id: key.id,
      key_name: key.name,
      scopes: key.scopes,
      expires_at: utcSeconds(expiresAt),
      mode: ctx.config.mode,
    }
  }
  const begin = (tx: Parameters<typeof beginSession>[0], key: Credential, how: string, request: FastifyRequest) => {
    checkKey(key, request)
    return beginSession(tx, keyActor({ key }, request), key, how, ctx.now())
  }
  const withSecret = async (secret: string, request: FastifyRequest): Promise<[Credential, NewSession]> => {
    const parts = splitSecret(secret)
    const key = parts && (await directory.credentials.get(parts.prefix))
    if (!key?.secretHash || !timingSafeEqual(parts!.hash, key.secretHash) || !isUsable(key, ctx.now()))
      throw unauthenticated()
    return [key, await ctx.db.transaction((tx) => begin(tx, key, 'secret', request))]
  }
  const withLink = (token: string, request: FastifyRequest): Promise<[Credential, NewSession]> =>
    ctx.db.transaction(async (tx) => {
      const link = await takeLink(tx, token, ctx.now())
      const row = link && (await findCredential(tx, link.keyId))
      if (!row || !isUsable(row, ctx.now()))
        throw fail('auth_required', 'The sign-in link was used, has expired, or its API key is gone.')
      const key = toCredential(row)
      return [key, await begin(tx, key, 'link', request)]
    })

  return [
    partnerRoute({
      method: 'POST',
      path: '/console/session',
      id: 'signIn',
      tag: 'Console',
      summary: 'Sign in to the console',
      description:
        'With a secret key or with the token of a sign-in link. Sets a cookie that only the browser sees; it is accepted where a bearer credential is, with `X-Console: 1` on everything but reads. The session lasts 12 hours at most.',
      access: undefined,
      body: SignIn,
      replies: { 201: { description: 'Signed in.', schema: Session } },
      errors: ['auth_required', 'forbidden', 'too_many_requests'],
      async handle({ body, request }) {
        refuseForeignOrigin(request, ctx.config.publicUrl)
        const given = body as { secret?: string; link?: string }
        const [key, { token, expiresAt }] = await (given.secret === undefined
          ? withLink(given.link!, request)
          : withSecret(given.secret, request))
        const maxAgeSeconds = (expiresAt.getTime() - ctx.now().getTime()) / 1_000
        const headers = { ...noStore, 'set-cookie': cookie.write(request, token, maxAgeSeconds) }
        return { status: 201, body: await view(key, expiresAt.toISOString()), headers }
      },
    }),
    partnerRoute({
      method: 'GET',
      path: '/console/session',
      id: 'getSession',
      tag: 'Console',
      summary: 'Show who is signed in',
      access: ownSession,
      replies: { 200: { description: 'The session of the cookie.', schema: Session } },
      handle: async ({ caller }) => ({ status: 200, body: await view(caller.key, caller.session!.expiresAt) }),
    }),
    partnerRoute({
      method: 'DELETE',
      path: '/console/session',
      id: 'signOut',
      tag: 'Console',
      summary: 'Sign out',
      description: 'Holds on every process within a second.',
      access: ownSession,
      replies: { 204: { description: 'Signed out; the cookie is cleared.' } },
      async handle({ caller, request }) {
        await ctx.db.transaction((tx) => endSession(tx, keyActor(caller, request), caller.session!))
        await feed.refresh()
        return { status: 204, headers: { 'set-cookie': cookie.clear(request) } }
      },
    }),
    partnerRoute({
      method: 'POST',
      path: '/console/links',
      id: 'createSignInLink',
      tag: 'Console',
      summary: 'Make a sign-in link',
      description:
        'Good for 15 minutes and one use, to hand to a person who shall not see a key. It signs in with the calling key, or with another one that may do no more.',
      access: 'keys:write',
      idempotent: true,
      body: Type.Object(
        {
          key_id: Type.Optional(
            Type.String({ maxLength: 100, description: 'The key to sign in with; left out: the calling one.' }),
          ),
        },
        { additionalProperties: false },
      ),
      replies: { 201: { description: 'The link, shown this once.', schema: SignInLink } },
      errors: ['not_found', 'conflict'],
      handle: ({ caller, body, request }) =>
        idempotently(ctx.db, request, { owner: caller.partnerId, secretReply: true }, async (tx) => {
          const whose = { partnerId: caller.partnerId, keyId: body.key_id ?? caller.key.id }
          const link = await createLink(
            tx,
            keyActor(caller, request),
            { ...whose, publicUrl: ctx.config.publicUrl },
            { now: ctx.now(), limits: caller.key },
          )
          return { status: 201, body: linkView(link), headers: noStore }
        }),
    }),
    partnerRoute({
      method: 'GET',
      path: '/requests/{request_id}',
      id: 'getRequest',
      tag: 'Requests',
      summary: 'Show what became of a request',
      description:
        'Kept for seven days: every request that could change something and every one that was refused, of a known caller. Successful reads are not kept; nor is any body, header or query. Of several requests with one id the latest is shown.',
      access: 'partner:read',
      params: Type.Object({ request_id: Type.String({ maxLength: 128, description: 'Its `X-Request-Id`.' }) }),
      replies: { 200: { description: 'The request.', schema: LoggedRequest } },
      errors: ['not_found'],
      async handle({ caller, params }) {
        const row = await requests.find(caller.partnerId, params.request_id)
        if (!row) throw fail('not_found', 'There is no such request, or it is not one that is kept.')
        return { status: 200, body: requestView(row) }
      },
    }),
  ]
}

export function linkView({ url, expiresAt }: { url: string; expiresAt: Date }) {
  return { url, expires_at: utcSeconds(expiresAt.toISOString()) }
}

function requestView(row: RequestRow) {
  return {
    request_id: row.requestId,
    at: offsetMicros(row.at),
    method: row.method,
    route: row.route,
    path: row.path,
    status: row.status,
    error_code: row.errorCode,
    error_msg: row.errorMsg,
    duration_ms: row.durationMs,
    key_id: row.keyId,
    address: row.address,
  }
}
