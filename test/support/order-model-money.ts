// The model's money: whole numbers of the smallest unit of a currency, as BigInt; fees and postings as decision 9 says them.
import type { Account, Entry, Order } from './order-model.ts'

export const decimalsOf = { ARS: 2, ETH: 18 } as const
export type Currency = keyof typeof decimalsOf
export const currencies = Object.keys(decimalsOf) as Currency[]

export interface Fee {
  readonly fixed: string
  readonly percentage: string
}

function scaled(text: string, places: number): bigint {
  const [whole = '', fraction = ''] = text.split('.')
  return BigInt(whole + fraction.padEnd(places, '0'))
}

// Undefined when it has more decimals than the currency.
export function minorOf(text: string, currency: Currency): bigint | undefined {
  const places = decimalsOf[currency]
  return (text.split('.')[1] ?? '').length > places ? undefined : scaled(text, places)
}

// Fixed part plus percentage, rounded up to the smallest unit.
export function feeOf(amount: string, { fixed, percentage }: Fee, currency: Currency): bigint {
  const exact = scaled(amount, 30) * scaled(percentage, 30) + scaled(fixed, 62) // 62 decimals: two for the percent
  const unit = 10n ** BigInt(62 - decimalsOf[currency])
  return exact % unit === 0n ? exact / unit : exact / unit + 1n
}

// With as many decimals as `like` has, more only when needed.
export function shown(minor: bigint, currency: Currency, like: string): string {
  const wanted = (like.split('.')[1] ?? '').length
  const digits = minor.toString().padStart(decimalsOf[currency] + 1, '0')
  const whole = digits.slice(0, digits.length - decimalsOf[currency])
  let fraction = digits.slice(digits.length - decimalsOf[currency])
  while (fraction.length > wanted && fraction.endsWith('0')) fraction = fraction.slice(0, -1)
  return fraction === '' ? whole : `${whole}.${fraction}`
}

const emptyAccount: Account = { available: 0n, held: 0n, fees: 0n, payouts: 0n, topUps: 0n, entries: [] }

export function book(before: Account = emptyAccount, order: Order, kind: string): Account {
  const amount = minorOf(order.amount, order.currency)!
  const { fee } = order
  const after = { ...before }
  if (kind === 'top_up') {
    after.available += amount
    after.topUps -= amount
  } else if (kind === 'hold') {
    after.available -= amount
    after.held += amount
  } else if (kind === 'release') {
    after.available += amount
    after.held -= amount
  } else if (kind === 'payout') {
    after.held -= amount
    after.payouts += amount - fee
    after.fees += fee
  } else {
    after.available += amount
    after.payouts -= amount
  }
  const entry: Entry = { kind, order: order.id, available: after.available, held: after.held }
  return { ...after, entries: [...before.entries, entry] }
}
