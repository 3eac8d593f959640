// Random sequences of everything that can be done to orders: which partner pays which fees, and what happens step by step. The
// steps name orders by their place, so that any part of a sequence is a sequence too and fast-check can shrink it.
import fc from 'fast-check'
import type { OperatorAct } from './order-model.ts'
import { type Currency, currencies, decimalsOf, type Fee } from './order-model-money.ts'

// Two at once may be meant for the same order.
export type Step = Act | { readonly atOnce: readonly [Act, Act]; readonly meet?: boolean }

export type Act = { readonly keyed: boolean } & (
  | { readonly do: 'topUp'; readonly partner: number; readonly money: Money; readonly reference: number }
  | { readonly do: 'instruct'; readonly partner: number; readonly currency: Currency }
  | { readonly do: 'forget'; readonly partner: number; readonly nth: number }
  | {
      readonly do: 'create'
      readonly partner: number
      readonly money: Money
      readonly reference: number
      readonly nth: number
    }
  | { readonly do: 'confirm' | 'cancel' | 'lapse' | OperatorAct; readonly partner: number; readonly at: Target }
  | { readonly do: 'again'; readonly nth: number } // an earlier keyed request, word for word
  | { readonly do: 'misuse'; readonly nth: number; readonly at: Target } // an earlier key, with another request
)

export interface Money {
  readonly currency: Currency
  readonly amount: string
}

export interface Target {
  readonly nth: number // counted from the newest
  readonly aimed: boolean // at an order where the call succeeds, if there is one
  readonly stranger: boolean // by a partner whose order it is not
  readonly money: Money // of the order that is made first, if there is none to do it to
}

export interface Sequence {
  readonly fees: readonly Readonly<Record<Currency, Fee>>[] // one for each partner
  readonly steps: readonly Step[]
}

const partner = fc.nat(2)
const nth = fc.nat(3)
const often = (yes: number, no: number) =>
  fc.oneof({ weight: yes, arbitrary: fc.constant(true) }, { weight: no, arbitrary: fc.constant(false) })
const keyed = fc.boolean()
const act = <T extends object>(name: string, rest: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
  fc.record({ do: fc.constant(name), keyed, ...rest }) as unknown as fc.Arbitrary<Act>

function amountOf(currency: Currency): fc.Arbitrary<string> {
  const places = decimalsOf[currency]
  const decimals = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(0, 1, 2) },
    { weight: 4, arbitrary: fc.constant(places) },
    { weight: 1, arbitrary: fc.constant(places + 1) }, // one too many
  )
  return fc
    .record({
      whole: fc.nat(120),
      decimals,
      digits: fc.bigInt(0n, 10n ** 19n - 1n),
      end: fc.constantFrom('', '01', '03'),
    })
    .map(({ whole, decimals, digits, end }) => {
      const fraction = decimals === 2 && end !== '' ? end : String(digits).padStart(19, '7').slice(0, decimals)
      return decimals === 0 ? `${whole}` : `${whole}.${fraction}`
    })
}
const currency = fc.constantFrom(...currencies)
const moneyIn = (each: Currency) => fc.record({ currency: fc.constant(each), amount: amountOf(each) })
const money = fc.oneof({ weight: 3, arbitrary: moneyIn('ARS') }, { weight: 1, arbitrary: moneyIn('ETH') })

const target = fc.record({ nth, aimed: often(3, 1), stranger: often(1, 12), money })

// Mostly the late ones: what has to come before them is done by itself.
const weights = {
  ...{ confirm: 5, cancel: 1, lapse: 2 },
  ...{ take: 3, complete: 6, fail: 4, release: 3, withdraw: 2, return: 5 },
}
const orderAct = fc.oneof(
  ...Object.entries(weights).map(([name, weight]) => ({ weight, arbitrary: act(name, { partner, at: target }) })),
)
const anyAct = fc.oneof(
  { weight: 24, arbitrary: orderAct },
  { weight: 6, arbitrary: act('create', { partner, money, reference: fc.nat(1), nth }) },
  { weight: 2, arbitrary: act('topUp', { partner, money, reference: fc.nat(1) }) },
  { weight: 1, arbitrary: act('instruct', { partner, currency }) },
  { weight: 4, arbitrary: act('forget', { partner, nth }) },
  { weight: 3, arbitrary: act('again', { nth }) },
  { weight: 2, arbitrary: act('misuse', { nth, at: target }) },
)
// Two at once are mostly two that meet.
const meeting = fc.tuple(orderAct, orderAct).map((atOnce) => ({ atOnce, meet: true }))
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 12, arbitrary: anyAct },
  { weight: 1, arbitrary: fc.tuple(anyAct, anyAct).map((atOnce) => ({ atOnce })) },
  { weight: 2, arbitrary: meeting },
)

const decimal = (most: number, ...places: number[]) =>
  fc.tuple(fc.nat(most), fc.constantFrom(...places)).map(([units, left]) => {
    const text = String(units).padStart(left + 1, '0')
    return `${text.slice(0, -left)}.${text.slice(-left)}`
  })
const fee = fc.record({ fixed: decimal(150, 2), percentage: decimal(300, 2, 4) })

export function sequences({ partners = 2, steps = 6 }: { partners?: number; steps?: number } = {}) {
  const fees = fc.array(fc.record({ ARS: fee, ETH: fee }), { minLength: partners, maxLength: partners })
  return fc.record({
    fees,
    steps: fc.array(step, { minLength: 1, maxLength: steps, size: 'max' }),
  }) as fc.Arbitrary<Sequence>
}
