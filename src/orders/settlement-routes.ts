// The partner's money and where it may go: outgoing instructions, settlement accounts and their statements.
import { Readable } from 'node:stream'
import Type from 'typebox'
import type { Context } from '../context.ts'
import { fail } from '../errors.ts'
import { idempotently } from '../http/idempotency.ts'
import { noFilters, pageOf, pageQuery, pageReply, readPage } from '../http/paging.ts'
import { type Route, route } from '../http/route.ts'
import { keyActor, type PartnerCaller } from '../partners/gate.ts'
import { findConfiguration } from '../partners/queries.ts'
import { fromWire } from '../times.ts'
import { createInstruction, deleteInstruction, instructionView, noSuchInstruction } from './instructions.ts'
import { findInstruction, listInstructions } from './queries.ts'
import { Instruction, NewInstruction, SettlementAccount, StatementEntry } from './schema.ts'
import { findAccount, listAccounts, listEntries } from './settlement.ts'
import { csvExample, statementCsv } from './statement.ts'
import { accountView, entryView } from './views.ts'

const partnerRoute = route<PartnerCaller>()
const instructionParams = Type.Object({
  instruction_id: Type.String({ maxLength: 100, description: 'Id of the instruction.' }),
})

export function settlementRoutes(ctx: Context): Route<PartnerCaller>[] {
  const assetsOf = async (partnerId: string) =>
    (await findConfiguration(ctx.db, partnerId))?.document.available_assets ?? []

  return [
    partnerRoute({
      method: 'POST',
      path: '/partner/outgoing-instructions',
      id: 'createInstruction',
      tag: 'Outgoing instructions',
      summary: 'Create an outgoing instruction',
      description:
        'Checked against `available_outgoing_fiat_instructions` of your account, check digits included. It cannot be changed later: delete it and create another.',
      access: 'orders:write',
      idempotent: true,
      body: NewInstruction,
      replies: { 201: { description: 'The instruction.', schema: Instruction } },
      handle: ({ caller, body, request }) =>
        idempotently(ctx.db, request, { owner: caller.partnerId }, async (tx) => ({
          status: 201,
          body: instructionView(await createInstruction(tx, keyActor(caller, request), caller.partnerId, body)),
        })),
    }),
    partnerRoute({
      method: 'GET',
      path: '/partner/outgoing-instructions',
      id: 'listInstructions',
      tag: 'Outgoing instructions',
      summary: 'List outgoing instructions',
      access: 'orders:read',
      query: noFilters,
      replies: { 200: pageOf('outgoing_instructions', Instruction) },
      async handle({ caller, query }) {
        const page = readPage(query)
        const rows = await listInstructions(ctx.db, caller.partnerId, page)
        return pageReply('outgoing_instructions', rows, page, instructionView, (row) => row.id)
      },
    }),
    partnerRoute({
      method: 'GET',
      path: '/partner/outgoing-instructions/{instruction_id}',
      id: 'getInstruction',
      tag: 'Outgoing instructions',
      summary: 'Show an outgoing instruction',
      access: 'orders:read',
      params: instructionParams,
      replies: { 200: { description: 'The instruction.', schema: Instruction } },
      errors: ['not_found'],
      async handle({ caller, params }) {
        const row = await findInstruction(ctx.db, caller.partnerId, params.instruction_id)
        if (!row) throw noSuchInstruction()
        return { status: 200, body: instructionView(row) }
      },
    }),
    partnerRoute({
      method: 'DELETE',
      path: '/partner/outgoing-instructions/{instruction_id}',
      id: 'deleteInstruction',
      tag: 'Outgoing instructions',
      summary: 'Delete an outgoing instruction',
      description:
        'Orders that were confirmed are still paid to it; those that wait for confirmation cannot be confirmed any more.',
      access: 'orders:write',
      params: instructionParams,
      replies: { 204: { description: 'Deleted.' } },
      errors: ['not_found'],
      async handle({ caller, params, request }) {
        await ctx.db.transaction((tx) =>
          deleteInstruction(tx, keyActor(caller, request), caller.partnerId, params.instruction_id),
        )
        return { status: 204 }
      },
    }),
    partnerRoute({
      method: 'GET',
      path: '/partner/settlement-accounts',
      id: 'listSettlementAccounts',
      tag: 'Settlement accounts',
      summary: 'List settlement accounts with their balances',
      access: 'orders:read',
      query: noFilters,
      replies: { 200: { ...pageOf('settlement_accounts', SettlementAccount), description: 'By currency.' } },
      async handle({ caller, query }) {
        const page = readPage(query)
        const assets = await assetsOf(caller.partnerId)
        const rows = await listAccounts(ctx.db, caller.partnerId, page)
        return pageReply(
          'settlement_accounts',
          rows,
          page,
          (row) => accountView(row, assets),
          (row) => row.currency,
        )
      },
    }),
    partnerRoute({
      method: 'GET',
      path: '/partner/settlement-accounts/{currency}/statement',
      id: 'getStatement',
      tag: 'Settlement accounts',
      summary: 'Read the statement of a settlement account',
      description:
        'Every change of the account with the balances after it, newest first. With `format=csv` the whole span at once, oldest first, as a file.',
      access: 'orders:read',
      params: Type.Object({ currency: Type.String({ maxLength: 32, description: 'Currency of the account.' }) }),
      query: Type.Object(
        {
          ...pageQuery,
          created_from: Type.Optional(Type.String({ format: 'date-time', description: 'From this time on.' })),
          created_to: Type.Optional(Type.String({ format: 'date-time', description: 'Before this time.' })),
          format: Type.Optional(Type.Enum(['json', 'csv'], { default: 'json', description: 'JSON pages, or a file.' })),
        },
        { additionalProperties: false },
      ),
      replies: { 200: { ...pageOf('entries', StatementEntry), file: { type: 'text/csv', example: csvExample } } },
      errors: ['not_found'],
      async handle({ caller: { partnerId }, params: { currency }, query }) {
        const page = readPage(query, /^\d{1,15}$/)
        const from = query.created_from === undefined ? null : fromWire(query.created_from)
        const to = query.created_to === undefined ? null : fromWire(query.created_to)
        if (!(await findAccount(ctx.db, partnerId, currency)))
          throw fail('not_found', 'There is no such settlement account.')
        const assets = await assetsOf(partnerId)
        if (query.format === 'csv') {
          const lines = statementCsv(ctx.db, partnerId, currency, assets, { from, to })
          const name = `statement-${currency.replace(/[^A-Za-z0-9]/g, '_')}.csv`
          return {
            status: 200,
            body: Readable.from(lines),
            headers: {
              'content-type': 'text/csv; charset=utf-8',
              'content-disposition': `attachment; filename="${name}"`,
            },
          }
        }
        const before = page.before === null ? null : Number(page.before)
        const rows = await listEntries(ctx.db, partnerId, currency, { from, to, before, limit: page.limit + 1 })
        return pageReply(
          'entries',
          rows,
          page,
          (row) => entryView(row, currency, assets),
          (row) => String(row.entry),
        )
      },
    }),
  ]
}
