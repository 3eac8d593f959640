// Operators sign in to the console and out of it, and give partners sign-in links.
import Type from 'typebox'
import type { Context } from '../context.ts'
import { refuseForeignOrigin, type SessionCookie } from '../http/cookies.ts'
import { idempotently } from '../http/idempotency.ts'
import { type Route, route } from '../http/route.ts'
import { noSuchPartner } from '../partners/partners.ts'
import { findPartner } from '../partners/queries.ts'
import { linkView } from '../partners/session-routes.ts'
import { SignInLink } from '../partners/session-schema.ts'
import { createLink } from '../partners/sessions.ts'
import { utcSeconds } from '../times.ts'
import type { Changes } from './changes.ts'
import { type Operator, type OperatorGate, operatorActor, ownSession, unauthenticated } from './gate.ts'
import { OperatorSession } from './schema.ts'
import { beginOperatorSession, endOperatorSession } from './sessions.ts'

const operatorRoute = route<Operator>()
const noStore = { 'cache-control': 'no-store' }

export interface OperatorSessionDependencies {
  readonly changes: Changes
  readonly identify: OperatorGate['identify']
  readonly cookie: SessionCookie
  readonly operatorToken: string
}

export function operatorSessionRoutes(
  ctx: Context,
  { changes, identify, cookie, operatorToken }: OperatorSessionDependencies,
): Route<Operator>[] {
  const view = ({ name, roles }: Operator, expiresAt: string) => ({
    name,
    roles,
    expires_at: utcSeconds(expiresAt),
    mode: ctx.config.mode,
  })
  return [
    operatorRoute({
      method: 'POST',
      path: '/session',
      id: 'signIn',
      tag: 'Console',
      summary: 'Sign in to the console',
      description:
        'With an operator token. Sets a cookie that only the browser sees; it is accepted where a bearer token is, with `X-Console: 1` on everything but reads. The session ends after 12 hours, or with its token.',
      access: undefined,
      body: Type.Object(
        { token: Type.String({ maxLength: 500, description: 'An operator token.' }) },
        { additionalProperties: false },
      ),
      replies: { 201: { description: 'Signed in.', schema: OperatorSession } },
      errors: ['auth_required', 'forbidden'],
      async handle({ body, request }) {
        refuseForeignOrigin(request, undefined)
        const operator = await identify(body.token)
        if (!operator) throw unauthenticated()
        const tokenId = operator.id === 'OPERATOR_TOKEN' ? undefined : operator.id
        const { token, expiresAt } = await ctx.db.transaction((tx) =>
          beginOperatorSession(tx, operatorActor(operator, request), { tokenId, operatorToken, now: ctx.now() }),
        )
        const maxAgeSeconds = (expiresAt.getTime() - ctx.now().getTime()) / 1_000
        const headers = { ...noStore, 'set-cookie': cookie.write(request, token, maxAgeSeconds) }
        return { status: 201, body: view(operator, expiresAt.toISOString()), headers }
      },
    }),
    operatorRoute({
      method: 'GET',
      path: '/session',
      id: 'getSession',
      tag: 'Console',
      summary: 'Show who is signed in',
      access: ownSession,
      replies: { 200: { description: 'The session of the cookie.', schema: OperatorSession } },
      handle: ({ caller }) => ({ status: 200, body: view(caller, caller.session!.expiresAt) }),
    }),
    operatorRoute({
      method: 'DELETE',
      path: '/session',
      id: 'signOut',
      tag: 'Console',
      summary: 'Sign out',
      access: ownSession,
      replies: { 204: { description: 'Signed out; the cookie is cleared.' } },
      handle: ({ caller, request }) =>
        changes.in(async (tx) => {
          await endOperatorSession(tx, operatorActor(caller, request), caller.session!.tokenHash)
          return { status: 204, headers: { 'set-cookie': cookie.clear(request) } }
        }),
    }),
    operatorRoute({
      method: 'POST',
      path: '/partners/{partner_id}/console-links',
      id: 'createSignInLink',
      tag: 'Console',
      summary: 'Make a sign-in link for a partner',
      description:
        'Good for 15 minutes and one use. Whoever opens it is signed in to the partner’s console with the key named, and can do what that key can: it needs the same role as making a key.',
      access: 'admin',
      idempotent: true,
      params: Type.Object({ partner_id: Type.String({ maxLength: 100, description: 'Id of the partner.' }) }),
      body: Type.Object(
        { key_id: Type.String({ maxLength: 100, description: 'The API key to sign in with.' }) },
        { additionalProperties: false },
      ),
      replies: { 201: { description: 'The link, shown this once.', schema: SignInLink } },
      errors: ['not_found', 'conflict'],
      handle: ({ caller, params, body, request }) =>
        idempotently(ctx.db, request, { owner: caller.id, secretReply: true }, async (tx) => {
          if (!(await findPartner(tx, params.partner_id))) throw noSuchPartner()
          const link = await createLink(
            tx,
            operatorActor(caller, request),
            { partnerId: params.partner_id, keyId: body.key_id, publicUrl: ctx.config.publicUrl },
            { now: ctx.now() },
          )
          return { status: 201, body: linkView(link), headers: noStore }
        }),
    }),
  ]
}
