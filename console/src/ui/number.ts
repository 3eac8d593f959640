// Numbers and amounts for people. Amounts are decimal strings and stay that: they are grouped as text, never calculated with floats.

const compactFormat = new Intl.NumberFormat(undefined, { notation: 'compact', maximumFractionDigits: 1 })
const plainFormat = new Intl.NumberFormat(undefined)

// The decimal mark of amounts is a dot, as in the API; thousands are set apart by a comma where readers know it so, else by a space.
const groupMark = plainFormat.format(10_000).includes(',') ? ',' : '\u00a0'

export function compact(value: number): string {
  return Math.abs(value) < 10_000 ? plainFormat.format(value) : compactFormat.format(value)
}

export function percent(rate: number | null): string {
  if (rate === null) return '–'
  const value = rate * 100
  // 99.96 % is not 100 %: what is not perfect never looks so.
  const digits = value === 100 || value === 0 ? 0 : value >= 99 ? 2 : 1
  return `${(Math.floor(value * 10 ** digits) / 10 ** digits).toFixed(digits)} %`
}

export function money(amount: string): string {
  const [, sign, whole, rest] = /^(-?)(\d+)(\..*)?$/.exec(amount) ?? []
  if (whole === undefined) return amount
  return `${sign === '-' ? '−' : ''}${whole.replaceAll(/\B(?=(\d{3})+$)/g, groupMark)}${rest ?? ''}`
}

// -1, 0 or 1; both are decimal strings.
export function compareDecimals(a: string, b: string): number {
  const places = Math.max(placesOf(a), placesOf(b))
  const [left, right] = [scaled(a, places), scaled(b, places)]
  return left < right ? -1 : left > right ? 1 : 0
}

export function subtract(a: string, b: string): string {
  const places = Math.max(placesOf(a), placesOf(b))
  const value = scaled(a, places) - scaled(b, places)
  const digits = (value < 0n ? -value : value).toString().padStart(places + 1, '0')
  const text = places === 0 ? digits : `${digits.slice(0, -places)}.${digits.slice(-places)}`
  return value < 0n ? `-${text}` : text
}

export function placesOf(decimal: string): number {
  const dot = decimal.indexOf('.')
  return dot < 0 ? 0 : decimal.length - dot - 1
}

export function isDecimal(text: string): boolean {
  return /^(0|[1-9][0-9]*)(\.[0-9]+)?$/.test(text)
}

function scaled(decimal: string, places: number): bigint {
  const [whole = '0', rest = ''] = decimal.split('.')
  return BigInt(whole + rest.padEnd(places, '0'))
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${compact(count)} ${count === 1 ? one : many}`
}
