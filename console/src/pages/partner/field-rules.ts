// The rules of destination fields, checked while one types as the service checks them afterwards: lengths, patterns, check digits.
import type { RequiredField } from '../../api/types.ts'

export function mistakeIn(field: RequiredField, value: string): string | undefined {
  if (value === '') return field.optional ? undefined : 'This is required.'
  const length = [...value].length
  if (field.min_length !== undefined && length < field.min_length)
    return `At least ${field.min_length} characters; this has ${length}.`
  if (field.max_length !== undefined && length > field.max_length)
    return `At most ${field.max_length} characters; this has ${length}.`
  if (field.regex !== undefined && !fits(field.regex, value)) return `It must match ${field.regex}.`
  return kindOf(field.key)?.(value)
}

export function ruleWords({ min_length: min, max_length: max, regex }: RequiredField): string {
  const length =
    min !== undefined && min === max
      ? `${min} characters`
      : min !== undefined && max !== undefined
        ? `${min} to ${max} characters`
        : max !== undefined
          ? `at most ${max} characters`
          : min !== undefined
            ? `at least ${min} characters`
            : ''
  return [length, regex && !/^\^\[0-9\]\{\d+\}\$$/.test(regex) ? regex : regex ? 'digits only' : '']
    .filter(Boolean)
    .join(', ')
}

// The service runs patterns in linear time, a browser does not: one that could take long is left to the service.
function fits(regex: string, value: string): boolean {
  if (/[)\]][*+{?].*[*+{]|\)[*+{?]/.test(regex) && value.length > 30) return true
  try {
    return new RegExp(regex, 'u').test(value)
  } catch {
    return true // RE2 writes some things differently
  }
}

const kinds: Record<string, (value: string) => string | undefined> = {
  cbu: (value) => (isCbu(value) ? undefined : 'The check digits of this CBU or CVU are wrong.'),
  cvu: (value) => (isCbu(value) ? undefined : 'The check digits of this CBU or CVU are wrong.'),
  clabe: (value) => (isClabe(value) ? undefined : 'The check digit of this CLABE is wrong.'),
  alias: (value) =>
    /^[A-Za-z0-9.-]{6,20}$/.test(value) ? undefined : 'An alias has 6 to 20 letters, digits, dots or hyphens.',
  cuit: (value) => (isCuit(value) ? undefined : 'The check digit of this CUIT is wrong.'),
  cuil: (value) => (isCuit(value) ? undefined : 'The check digit of this CUIL is wrong.'),
}

function kindOf(key: string) {
  const word = key
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .find((each) => Object.hasOwn(kinds, each))
  return word === undefined ? undefined : kinds[word]
}

function isCbu(value: string): boolean {
  return (
    /^[0-9]{22}$/.test(value) &&
    checkDigit(value.slice(0, 7), '7139713') === value[7] &&
    checkDigit(value.slice(8, 21), '3971397139713') === value[21]
  )
}

function isClabe(value: string): boolean {
  return /^[0-9]{18}$/.test(value) && checkDigit(value.slice(0, 17), '37137137137137137') === value[17]
}

function isCuit(value: string): boolean {
  if (!/^[0-9]{11}$/.test(value)) return false
  const check = 11 - (weigh(value.slice(0, 10), '5432765432') % 11)
  return (check === 11 ? 0 : check === 10 ? 9 : check) === Number(value[10])
}

function checkDigit(digits: string, weights: string): string {
  return String((10 - (weigh(digits, weights) % 10)) % 10)
}

function weigh(digits: string, weights: string): number {
  return [...digits].reduce((sum, digit, i) => sum + Number(digit) * Number(weights[i]), 0)
}
