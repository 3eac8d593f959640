// The partner's own view: its account, and its API keys.
import Type from 'typebox'
import type { Context } from '../context.ts'
import type { ChangeFeed } from '../db/changes.ts'
import { fail } from '../errors.ts'
import { idempotently } from '../http/idempotency.ts'
import { noFilters, pageOf, pageReply, readPage } from '../http/paging.ts'
import { type Route, route } from '../http/route.ts'
import type { Directory } from './directory.ts'
import { keyActor, type PartnerCaller } from './gate.ts'
import { createKey, keyView, removeKey } from './keys.ts'
import { listKeys } from './queries.ts'
import { ApiKey, CreatedApiKey, NewApiKey, PartnerAccount } from './schema.ts'

const partnerRoute = route<PartnerCaller>()
const jsonHeaders = {
  'content-type': 'application/json; charset=utf-8',
  'cache-control': 'private, no-cache',
  vary: 'authorization, cookie',
}

export function partnerRoutes(ctx: Context, directory: Directory, feed: ChangeFeed): Route<PartnerCaller>[] {
  return [
    partnerRoute({
      method: 'GET',
      path: '/partner',
      id: 'getPartner',
      tag: 'Partner',
      summary: 'Read the partner account',
      description:
        'The configuration of the calling partner: assets, investments, products and fiat instructions. Read it before creating an order. Send the `ETag` back as `If-None-Match` to be told cheaply that nothing changed.',
      access: 'partner:read',
      conditional: true,
      replies: { 200: { description: 'The account.', schema: PartnerAccount } },
      async handle({ caller, request }) {
        const account = await directory.accounts.get(caller.partnerId)
        if (!account) throw fail('not_found')
        const headers = { ...jsonHeaders, etag: account.etag }
        if (matches(request.headers['if-none-match'], account.etag)) return { status: 304, headers }
        return { status: 200, body: account.body, headers }
      },
    }),
    partnerRoute({
      method: 'GET',
      path: '/partner/keys',
      id: 'listKeys',
      tag: 'API keys',
      summary: 'List the API keys of the partner, revoked ones included',
      access: 'keys:write',
      query: noFilters,
      replies: { 200: pageOf('keys', ApiKey) },
      async handle({ caller, query }) {
        const page = readPage(query)
        return pageReply('keys', await listKeys(ctx.db, caller.partnerId, page), page, keyView, (row) => row.id)
      },
    }),
    partnerRoute({
      method: 'POST',
      path: '/partner/keys',
      id: 'createKey',
      tag: 'API keys',
      summary: 'Create an API key',
      description:
        'A key never gets more scopes than the one that makes it, and inherits its address list. To rotate: create a second key, move your callers over, revoke the first. The secret is shown in this reply and never again.',
      access: 'keys:write',
      idempotent: true,
      body: NewApiKey,
      replies: { 201: { description: 'The new key with its secret.', schema: CreatedApiKey } },
      async handle({ caller, body, request }) {
        const reply = await idempotently(
          ctx.db,
          request,
          { owner: caller.partnerId, secretReply: true },
          async (tx) => {
            const { row, secret } = await createKey(tx, keyActor(caller, request), caller.partnerId, body, {
              limits: caller.key,
              now: ctx.now(),
            })
            return {
              status: 201,
              body: { ...keyView(row), ...(secret ? { secret } : {}) },
              headers: { 'cache-control': 'no-store' },
            }
          },
        )
        await feed.refresh()
        return reply
      },
    }),
    partnerRoute({
      method: 'DELETE',
      path: '/partner/keys/{key_id}',
      id: 'revokeKey',
      tag: 'API keys',
      summary: 'Revoke an API key',
      description: 'Holds everywhere within a second. A key may revoke itself.',
      access: 'keys:write',
      params: Type.Object({ key_id: Type.String({ maxLength: 100, description: 'Id of the key.' }) }),
      replies: { 204: { description: 'Revoked.' } },
      errors: ['not_found'],
      async handle({ caller, params, request }) {
        await ctx.db.transaction((tx) => removeKey(tx, keyActor(caller, request), caller.partnerId, params.key_id))
        await feed.refresh()
        return { status: 204 }
      },
    }),
  ]
}

function matches(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false
  return ifNoneMatch.trim() === '*' || ifNoneMatch.split(',').some((each) => each.trim().replace(/^W\//, '') === etag)
}
