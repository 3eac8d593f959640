// The operator's routes about partners: thin, they call the room that owns the rules, which also audits every change.
import Type from 'typebox'
import type { Context } from '../context.ts'
import { fail } from '../errors.ts'
import { idempotently } from '../http/idempotency.ts'
import { noFilters, pageOf, pageReply, readPage } from '../http/paging.ts'
import { type Route, route } from '../http/route.ts'
import { createKey, keyView, removeKey } from '../partners/keys.ts'
import { createPartner, noSuchPartner, setPartnerState, writeConfiguration } from '../partners/partners.ts'
import {
  type ConfigurationRow,
  findConfiguration,
  findPartner,
  listConfigurations,
  listKeys,
  listPartners,
  type PartnerRow,
} from '../partners/queries.ts'
import { ApiKey, CreatedApiKey, NewApiKey, PartnerConfiguration } from '../partners/schema.ts'
import { utcSeconds } from '../times.ts'
import { signalPartner, type Waker } from '../webhooks/signals.ts'
import type { Changes } from './changes.ts'
import { type Operator, operatorActor } from './gate.ts'
import { ConfigurationVersion, NewPartner, Partner, PartnerChange } from './schema.ts'

const operatorRoute = route<Operator>()
const partnerParams = Type.Object({ partner_id: Type.String({ maxLength: 100, description: 'Id of the partner.' }) })
const keyParams = Type.Object({
  ...partnerParams.properties,
  key_id: Type.String({ maxLength: 100, description: 'Id of the key.' }),
})

export function partnerAdministration(ctx: Context, changes: Changes, waker: Waker): Route<Operator>[] {
  return [
    operatorRoute({
      method: 'POST',
      path: '/partners',
      id: 'createPartner',
      tag: 'Partners',
      summary: 'Create a partner',
      description:
        'With a configuration (in which `name` takes the place of its name), or with an empty one to be written later.',
      access: 'admin',
      idempotent: true,
      body: NewPartner,
      replies: { 201: { description: 'The new partner.', schema: Partner } },
      handle: ({ caller, body, request }) =>
        changes.after(() =>
          idempotently(ctx.db, request, { owner: caller.id }, async (tx) => ({
            status: 201,
            body: partnerView(await createPartner(tx, operatorActor(caller, request), body)),
          })),
        ),
    }),
    operatorRoute({
      method: 'GET',
      path: '/partners',
      id: 'listPartners',
      tag: 'Partners',
      summary: 'List partners',
      access: 'read',
      query: noFilters,
      replies: { 200: pageOf('partners', Partner) },
      async handle({ query }) {
        const page = readPage(query)
        return pageReply('partners', await listPartners(ctx.db, page), page, partnerView, (row) => row.id)
      },
    }),
    operatorRoute({
      method: 'GET',
      path: '/partners/{partner_id}',
      id: 'getPartner',
      tag: 'Partners',
      summary: 'Show a partner',
      access: 'read',
      params: partnerParams,
      replies: { 200: { description: 'The partner.', schema: Partner } },
      errors: ['not_found'],
      async handle({ params }) {
        const row = await findPartner(ctx.db, params.partner_id)
        if (!row) throw noSuchPartner()
        return { status: 200, body: partnerView(row) }
      },
    }),
    operatorRoute({
      method: 'PATCH',
      path: '/partners/{partner_id}',
      id: 'changePartner',
      tag: 'Partners',
      summary: 'Suspend or activate a partner',
      description: 'API calls of a suspended partner are answered with 403; nothing of it is lost.',
      access: 'support',
      params: partnerParams,
      body: PartnerChange,
      replies: { 200: { description: 'The partner as it is now.', schema: Partner } },
      errors: ['not_found'],
      async handle({ caller, params, body, request }) {
        const reply = await changes.in(async (tx) => {
          const partner = await setPartnerState(tx, operatorActor(caller, request), params.partner_id, body.state)
          await signalPartner(tx, partner.id)
          return { status: 200, body: partnerView(partner) }
        })
        waker.wake()
        return reply
      },
    }),
    operatorRoute({
      method: 'PUT',
      path: '/partners/{partner_id}/configuration',
      id: 'writeConfiguration',
      tag: 'Configuration',
      summary: 'Write the configuration of a partner, whole',
      description:
        'Becomes a new version; earlier ones stay readable. With `If-Match` it is written only over the version named.',
      access: 'admin',
      params: partnerParams,
      headers: { 'If-Match': 'The `ETag` of the configuration that this one replaces; 409 when it has changed since.' },
      body: PartnerConfiguration,
      replies: { 200: { description: 'The configuration as written.', schema: PartnerConfiguration } },
      errors: ['not_found', 'conflict'],
      handle: ({ caller, params, body, request }) =>
        changes.in(async (tx) => {
          const expected = readVersion(request.headers['if-match'])
          const version = await writeConfiguration(
            tx,
            operatorActor(caller, request),
            params.partner_id,
            body,
            expected,
          )
          return { status: 200, body, headers: { etag: `"${version}"` } }
        }),
    }),
    operatorRoute({
      method: 'GET',
      path: '/partners/{partner_id}/configuration',
      id: 'getConfiguration',
      tag: 'Configuration',
      summary: 'Read the configuration of a partner',
      access: 'read',
      params: partnerParams,
      replies: {
        200: { description: 'The current configuration; its version is the `ETag`.', schema: PartnerConfiguration },
      },
      errors: ['not_found'],
      async handle({ params }) {
        const row = await findConfiguration(ctx.db, params.partner_id)
        if (!row) throw noSuchPartner()
        return { status: 200, body: row.document, headers: { etag: `"${row.version}"` } }
      },
    }),
    operatorRoute({
      method: 'GET',
      path: '/partners/{partner_id}/configuration/versions',
      id: 'listConfigurationVersions',
      tag: 'Configuration',
      summary: 'List the versions of a configuration',
      access: 'read',
      params: partnerParams,
      query: noFilters,
      replies: { 200: pageOf('versions', ConfigurationVersion) },
      errors: ['not_found'],
      async handle({ params, query }) {
        const page = readPage(query, /^\d{1,9}$/)
        if (!(await findPartner(ctx.db, params.partner_id))) throw noSuchPartner()
        const rows = await listConfigurations(ctx.db, params.partner_id, page)
        return pageReply('versions', rows, page, versionView, (row) => String(row.version))
      },
    }),
    operatorRoute({
      method: 'GET',
      path: '/partners/{partner_id}/configuration/versions/{version}',
      id: 'getConfigurationVersion',
      tag: 'Configuration',
      summary: 'Read one version of a configuration',
      access: 'read',
      params: Type.Object({
        ...partnerParams.properties,
        version: Type.Integer({ minimum: 1, maximum: 999_999_999, description: 'Number of the version.' }),
      }),
      replies: { 200: { description: 'The configuration as it was written.', schema: ConfigurationVersion } },
      errors: ['not_found'],
      async handle({ params }) {
        const before = String(params.version + 1)
        const [row] = await listConfigurations(ctx.db, params.partner_id, { before, limit: 0 })
        if (row?.version !== params.version) throw fail('not_found', 'There is no such version.')
        return { status: 200, body: versionView(row) }
      },
    }),
    operatorRoute({
      method: 'POST',
      path: '/partners/{partner_id}/keys',
      id: 'createKey',
      tag: 'API keys',
      summary: 'Create an API key for a partner',
      description:
        'A secret key, shown once as `secret`; or, with `algorithm` and `public_key`, a key for tokens the partner signs.',
      access: 'admin',
      idempotent: true,
      params: partnerParams,
      body: NewApiKey,
      replies: { 201: { description: 'The new key.', schema: CreatedApiKey } },
      errors: ['not_found'],
      handle: ({ caller, params, body, request }) =>
        changes.after(() =>
          idempotently(ctx.db, request, { owner: caller.id, secretReply: true }, async (tx) => {
            if (!(await findPartner(tx, params.partner_id))) throw noSuchPartner()
            const actor = operatorActor(caller, request)
            const { row, secret } = await createKey(tx, actor, params.partner_id, body, { now: ctx.now() })
            return {
              status: 201,
              body: { ...keyView(row), ...(secret ? { secret } : {}) },
              headers: { 'cache-control': 'no-store' },
            }
          }),
        ),
    }),
    operatorRoute({
      method: 'GET',
      path: '/partners/{partner_id}/keys',
      id: 'listKeys',
      tag: 'API keys',
      summary: 'List the API keys of a partner',
      access: 'read',
      params: partnerParams,
      query: noFilters,
      replies: { 200: pageOf('keys', ApiKey) },
      errors: ['not_found'],
      async handle({ params, query }) {
        const page = readPage(query)
        if (!(await findPartner(ctx.db, params.partner_id))) throw noSuchPartner()
        return pageReply('keys', await listKeys(ctx.db, params.partner_id, page), page, keyView, (row) => row.id)
      },
    }),
    operatorRoute({
      method: 'DELETE',
      path: '/partners/{partner_id}/keys/{key_id}',
      id: 'revokeKey',
      tag: 'API keys',
      summary: 'Revoke an API key',
      description: 'Holds on every process within a second.',
      access: 'support',
      params: keyParams,
      replies: { 204: { description: 'Revoked.' } },
      errors: ['not_found'],
      handle: ({ caller, params, request }) =>
        changes.in(async (tx) => {
          await removeKey(tx, operatorActor(caller, request), params.partner_id, params.key_id)
          return { status: 204 }
        }),
    }),
  ]
}

function readVersion(ifMatch: string | undefined): number | undefined {
  if (ifMatch === undefined || ifMatch.trim() === '*') return undefined
  const version = /^"(\d{1,9})"$/.exec(ifMatch.trim())?.[1]
  if (version === undefined)
    throw fail('invalid_parameters', 'If-Match must be the ETag of a configuration, such as "3".')
  return Number(version)
}

function partnerView(row: PartnerRow) {
  return {
    id: row.id,
    name: row.name,
    state: row.state,
    configuration_version: row.configurationVersion,
    created_at: utcSeconds(row.createdAt),
  }
}

function versionView(row: ConfigurationRow) {
  return {
    version: row.version,
    created_at: utcSeconds(row.createdAt),
    created_by: row.createdBy,
    configuration: row.document,
  }
}
