// Outgoing instructions: destinations checked against the partner's configuration when they are made, and never changed since.
// Patterns run in an engine of linear time, so that no configuration and no value can stall the service.
import { createHash } from 'node:crypto'
import { RE2JS } from 're2js'
import type { Tx } from '../db/db.ts'
import { fail } from '../errors.ts'
import { newId } from '../ids.ts'
import { type Actor, actorLabel, audit } from '../partners/audit.ts'
import { findConfiguration } from '../partners/queries.ts'
import type { PartnerConfiguration } from '../partners/schema.ts'
import { utcSeconds } from '../times.ts'
import { destinationKind, normalised } from './destinations.ts'
import { type InstructionRow, insertInstruction, markInstructionDeleted } from './queries.ts'
import type { NewInstruction } from './schema.ts'

type InstructionType = NonNullable<PartnerConfiguration['available_outgoing_fiat_instructions']>[number]
type RequiredField = InstructionType['required_fields'][number]

export async function createInstruction(
  tx: Tx,
  actor: Actor,
  partnerId: string,
  given: NewInstruction,
): Promise<InstructionRow> {
  const configuration = (await findConfiguration(tx, partnerId))!.document
  checkInstruction(given, configuration)
  const row = await insertInstruction(tx, {
    partnerId,
    id: newId('oin'),
    type: given.type,
    currency: given.currency,
    label: given.label ?? '',
    fields: given.fields,
    fingerprint: fingerprintOf(given),
    createdBy: actorLabel(actor),
  })
  await audit(tx, actor, { action: 'instruction.created', partnerId, targetId: row.id, details: { type: row.type } })
  return row
}

export async function deleteInstruction(tx: Tx, actor: Actor, partnerId: string, id: string): Promise<void> {
  if (!(await markInstructionDeleted(tx, partnerId, id))) throw noSuchInstruction()
  await audit(tx, actor, { action: 'instruction.deleted', partnerId, targetId: id })
}

export function noSuchInstruction() {
  return fail('not_found', 'There is no such outgoing instruction.')
}

export function instructionType(configuration: PartnerConfiguration, type: string): InstructionType | undefined {
  return configuration.available_outgoing_fiat_instructions?.find((each) => each.type === type)
}

export function checkInstruction(
  { type, currency, fields }: NewInstruction,
  configuration: PartnerConfiguration,
): void {
  const wanted = instructionType(configuration, type)
  if (!wanted) {
    const known = (configuration.available_outgoing_fiat_instructions ?? []).map((each) => each.type)
    refuse(
      'type',
      known.length > 0 ? `must be one of ${known.join(', ')}` : 'is not possible: no outgoing instruction is enabled',
    )
  }
  if (!wanted.currencies.includes(currency)) {
    refuse('currency', `must be one of ${wanted.currencies.join(', ')} for ${type}`)
  }
  for (const key of Object.keys(fields)) {
    if (!wanted.required_fields.some((field) => field.key === key)) refuse(place(key), `is not a field of ${type}`)
  }
  for (const field of wanted.required_fields) {
    const value = Object.hasOwn(fields, field.key) ? fields[field.key] : undefined
    if (value !== undefined) checkField(field, value)
    else if (!field.optional) refuse(place(field.key), 'is required')
  }
}

function checkField({ key, regex, min_length, max_length }: RequiredField, value: string): void {
  const length = [...value].length
  if (min_length !== undefined && length < min_length) refuse(place(key), `must have at least ${min_length} characters`)
  if (max_length !== undefined && length > max_length) refuse(place(key), `must have at most ${max_length} characters`)
  if (regex !== undefined && !compiled(regex).matcher(value).find()) refuse(place(key), `must match ${regex}`)
  const kind = destinationKind(key)
  if (kind && !kind.is(value)) refuse(place(key), kind.must)
}

const patterns = new Map<string, RE2JS>()
const mostPatterns = 1_000

function compiled(regex: string): RE2JS {
  let pattern = patterns.get(regex)
  if (!pattern) {
    if (patterns.size >= mostPatterns) patterns.clear()
    pattern = RE2JS.compile(regex)
    patterns.set(regex, pattern)
  }
  return pattern
}

// The same destination has the same fingerprint, in whatever order and case its fields were written.
function fingerprintOf({ type, currency, fields }: NewInstruction): string {
  const parts = Object.keys(fields)
    .sort()
    .map((key) => [key, normalised(key, fields[key]!)])
  return createHash('sha256')
    .update(JSON.stringify([type, currency, parts]))
    .digest('hex')
    .slice(0, 32)
}

export function instructionView(row: InstructionRow) {
  return {
    id: row.id,
    type: row.type,
    currency: row.currency,
    label: row.label,
    fields: row.fields,
    fingerprint: row.fingerprint,
    created_at: utcSeconds(row.createdAt),
  }
}

function place(key: string): string {
  return `fields.${key.replace(/[^\x20-\x7e]/g, '?').slice(0, 80)}`
}

function refuse(where: string, what: string): never {
  throw fail('invalid_parameters', `${where} ${what}.`)
}
