// The operator's routes about the service itself: operator tokens, the audit log, metrics.
import Type from 'typebox'
import type { Context } from '../context.ts'
import { idempotently } from '../http/idempotency.ts'
import { noFilters, pageOf, pageQuery, pageReply, readPage } from '../http/paging.ts'
import { type Reply, type Route, route } from '../http/route.ts'
import { type AuditRow, listAuditLog } from '../partners/audit.ts'
import { utcSeconds, utcSecondsOrNull } from '../times.ts'
import type { Changes } from './changes.ts'
import { type Operator, operatorActor } from './gate.ts'
import { AuditEntry, CreatedOperatorToken, NewOperatorToken, OperatorToken } from './schema.ts'
import { createToken, listTokens, type OperatorTokenRow, revokeToken } from './tokens.ts'

const operatorRoute = route<Operator>()

export function serviceAdministration(ctx: Context, changes: Changes): Route<Operator>[] {
  return [
    operatorRoute({
      method: 'POST',
      path: '/tokens',
      id: 'createToken',
      tag: 'Operator tokens',
      summary: 'Create a named operator token',
      description:
        'Roles: `read` sees everything; `support` also suspends partners and revokes keys; `payouts` also works on payouts; `admin` does everything.',
      access: 'admin',
      idempotent: true,
      body: NewOperatorToken,
      replies: { 201: { description: 'The new token with its secret.', schema: CreatedOperatorToken } },
      errors: ['conflict'],
      handle: ({ caller, body, request }) =>
        changes.after(() =>
          idempotently(ctx.db, request, { owner: caller.id, secretReply: true }, async (tx) => {
            const { row, secret } = await createToken(tx, operatorActor(caller, request), body)
            return { status: 201, body: { ...tokenView(row), secret }, headers: { 'cache-control': 'no-store' } }
          }),
        ),
    }),
    operatorRoute({
      method: 'GET',
      path: '/tokens',
      id: 'listTokens',
      tag: 'Operator tokens',
      summary: 'List operator tokens',
      access: 'admin',
      query: noFilters,
      replies: { 200: pageOf('tokens', OperatorToken) },
      async handle({ query }) {
        const page = readPage(query)
        return pageReply('tokens', await listTokens(ctx.db, page), page, tokenView, (row) => row.id)
      },
    }),
    operatorRoute({
      method: 'DELETE',
      path: '/tokens/{token_id}',
      id: 'revokeToken',
      tag: 'Operator tokens',
      summary: 'Revoke an operator token',
      access: 'admin',
      params: Type.Object({ token_id: Type.String({ maxLength: 100, description: 'Id of the token.' }) }),
      replies: { 204: { description: 'Revoked.' } },
      errors: ['not_found'],
      handle: ({ caller, params, request }) =>
        changes.in(async (tx) => {
          await revokeToken(tx, operatorActor(caller, request), params.token_id)
          return { status: 204 }
        }),
    }),
    operatorRoute({
      method: 'GET',
      path: '/audit-log',
      id: 'listAuditLog',
      tag: 'Audit log',
      summary: 'Read the audit log',
      description: 'Every change an operator made, and every change made with a partner’s API key. Append-only.',
      access: 'read',
      query: Type.Object(
        {
          ...pageQuery,
          partner_id: Type.Optional(Type.String({ maxLength: 100, description: 'Only what concerned this partner.' })),
        },
        { additionalProperties: false },
      ),
      replies: { 200: pageOf('entries', AuditEntry) },
      async handle({ query }) {
        const page = readPage(query)
        return pageReply(
          'entries',
          await listAuditLog(ctx.db, query.partner_id ?? null, page),
          page,
          auditView,
          (row) => row.id,
        )
      },
    }),
    operatorRoute({
      method: 'GET',
      path: '/metrics',
      id: 'getMetrics',
      tag: 'Service',
      summary: 'Metrics for Prometheus',
      description: 'Also at `/metrics`, without a token, for scrapers that can reach this listener.',
      access: 'read',
      replies: { 200: { description: 'Prometheus text format.' } },
      handle: () => metricsReply(ctx),
    }),
  ]
}

export function metricsReply(ctx: Context): Reply {
  return {
    status: 200,
    body: Buffer.from(ctx.metrics.render()),
    headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' },
  }
}

function tokenView(row: OperatorTokenRow) {
  return {
    id: row.id,
    name: row.name,
    roles: row.roles,
    created_at: utcSeconds(row.createdAt),
    created_by: row.createdBy,
    revoked_at: utcSecondsOrNull(row.revokedAt),
  }
}

function auditView(row: AuditRow) {
  return {
    id: row.id,
    at: utcSeconds(row.at),
    actor: { kind: row.actorKind, id: row.actorId, name: row.actorName },
    action: row.action,
    partner_id: row.partnerId,
    target_id: row.targetId,
    details: row.details,
    request_id: row.requestId,
  }
}
