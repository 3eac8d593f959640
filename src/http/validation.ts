// Checks what comes in against its schema. Bodies are taken literally; query and path values, which are text on the wire, may
// become numbers. The first mistake is told in one sentence that names the place: `available_assets[0].id must be a string`.
import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js'
import type { TSchema } from 'typebox'
import { fail } from '../errors.ts'
import { isStorable } from './json-body.ts'

const shared = { strict: true, strictTypes: false, allowUnionTypes: true, verbose: true, messages: true } as const
const literal = new Ajv2020(shared)
const coercing = new Ajv2020({ ...shared, coerceTypes: true })
for (const ajv of [literal, coercing]) ajv.addFormat('date-time', isTime)

const dateTime = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/

// A moment that exists (Date.parse takes 30 February for 2 March) and whose year has four digits in UTC too.
function isTime(text: string): boolean {
  const date = dateTime.exec(text)?.[1]
  const moment = new Date(text)
  if (date === undefined || Number.isNaN(moment.getTime()) || !/^\d{4}-/.test(moment.toISOString())) return false
  return new Date(`${date}T00:00:00Z`).toISOString().startsWith(date)
}

export type Validator = (value: unknown) => void // throws invalid_parameters

export function bodyValidator(schema: TSchema): Validator {
  return validator(literal.compile(schema), 'The body')
}

export function textValidator(schema: TSchema): Validator {
  const check = validator(coercing.compile(schema), 'The address')
  return (values) => {
    for (const [name, value] of Object.entries(values as Record<string, unknown>)) {
      if (typeof value === 'string' && !isStorable(value))
        throw fail('invalid_parameters', `${printable(name)} holds a NUL character.`)
    }
    check(values)
  }
}

function validator(check: ValidateFunction, whole: string): Validator {
  return (value) => {
    if (!check(value)) throw fail('invalid_parameters', `${describe(mostTelling(check.errors ?? []), whole)}.`)
  }
}

// Of a failed union, the branch that got furthest says most; Ajv's own last word ("must match a schema in anyOf") says least.
function mostTelling(errors: readonly ErrorObject[]): ErrorObject {
  const useful = errors.filter((error) => error.keyword !== 'anyOf' && error.keyword !== 'oneOf')
  const depth = (error: ErrorObject) => error.instancePath.split('/').length
  return (useful.length > 0 ? useful : errors).reduce((best, error) => (depth(error) > depth(best) ? error : best))
}

function describe(error: ErrorObject, whole: string): string {
  const place = error.instancePath === '' ? '' : toPath(error.instancePath)
  const member = (name: unknown) => (place === '' ? String(name) : `${place}.${name}`)
  switch (error.keyword) {
    case 'required':
      return `${member(error.params.missingProperty)} is required`
    case 'additionalProperties':
      return `${member(printable(error.params.additionalProperty))} is not a known field`
    case 'enum':
      return `${place || whole} must be one of ${error.params.allowedValues.join(', ')}`
    case 'const':
      return `${place || whole} must be ${JSON.stringify(error.params.allowedValue)}`
    case 'pattern': {
      const meaning = (error.parentSchema as { description?: string }).description
      return `${place || whole} does not have the right form${meaning ? `: ${meaning.replace(/\.$/, '')}` : ''}`
    }
    case 'format':
      return `${place || whole} must be a time such as 2026-01-05T12:00:00Z`
    case 'type':
      return `${place || whole} must be ${[error.params.type].flat().map(withArticle).join(' or ')}`
    default:
      return `${place || whole} ${error.message ?? 'is invalid'}`
  }
}

function withArticle(type: string): string {
  if (type === 'null') return 'null'
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`
}

// /available_assets/0/id → available_assets[0].id
export function toPath(pointer: string): string {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => printable(part.replaceAll('~1', '/').replaceAll('~0', '~')))
    .reduce((path, part) => (/^\d+$/.test(part) ? `${path}[${part}]` : path === '' ? part : `${path}.${part}`), '')
}

// A caller's own field name goes back into the message; keep it short and on one line.
function printable(name: string): string {
  return name.replace(/[^\x20-\x7e]/g, '?').slice(0, 80)
}
