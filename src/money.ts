// Money as decimal strings, calculated exactly: a decimal is a whole number of units of its last place. Never a float.

export interface Decimal {
  readonly units: bigint
  readonly places: number
}

// `text` has the form that every schema of an amount asks for; a minus sign is understood too.
export function parseDecimal(text: string): Decimal {
  const [whole = '', fraction = ''] = text.split('.')
  return { units: BigInt(whole + fraction), places: fraction.length }
}

export function writeDecimal({ units, places }: Decimal): string {
  const digits = (units < 0n ? -units : units).toString().padStart(places + 1, '0')
  const whole = digits.slice(0, digits.length - places)
  return `${units < 0n ? '-' : ''}${whole}${places > 0 ? `.${digits.slice(digits.length - places)}` : ''}`
}

export function placesOf(text: string): number {
  return text.split('.')[1]?.length ?? 0
}

// With at least that many decimals: 1 → 1.00; what has more keeps them.
export function withPlaces(text: string, places: number): string {
  return writeDecimal(scale(parseDecimal(text), Math.max(places, placesOf(text))))
}

export function compareDecimals(a: string, b: string): number {
  const [x, y] = align(a, b)
  return x.units < y.units ? -1 : x.units > y.units ? 1 : 0
}

export function add(a: string, b: string): string {
  const [x, y] = align(a, b)
  return writeDecimal({ units: x.units + y.units, places: x.places })
}

export function negate(text: string): string {
  const { units, places } = parseDecimal(text)
  return writeDecimal({ units: -units, places })
}

// What `fixed` plus `percentage` percent of `amount` comes to, rounded up to `places`, and then written with no more of them than
// `amount` itself has, unless its value needs them.
export function feeOf(amount: string, fee: { fixed: string; percentage: string }, places: number): string {
  const base = parseDecimal(amount)
  const rate = parseDecimal(fee.percentage)
  const part = { units: base.units * rate.units, places: base.places + rate.places + 2 }
  const total = parseDecimal(add(writeDecimal(part), fee.fixed))
  return shorten(roundUp(total, places), base.places)
}

function roundUp({ units, places }: Decimal, wanted: number): Decimal {
  if (places <= wanted) return scale({ units, places }, wanted)
  const divisor = 10n ** BigInt(places - wanted)
  return { units: (units + divisor - 1n) / divisor, places: wanted }
}

function shorten({ units, places }: Decimal, least: number): string {
  let [shorter, left] = [units, places]
  while (left > least && shorter % 10n === 0n) [shorter, left] = [shorter / 10n, left - 1]
  return writeDecimal(scale({ units: shorter, places: left }, Math.max(left, least)))
}

function align(a: string, b: string): [Decimal, Decimal] {
  const [x, y] = [parseDecimal(a), parseDecimal(b)]
  const places = Math.max(x.places, y.places)
  return [scale(x, places), scale(y, places)]
}

function scale({ units, places }: Decimal, wanted: number): Decimal {
  return { units: units * 10n ** BigInt(wanted - places), places: wanted }
}
