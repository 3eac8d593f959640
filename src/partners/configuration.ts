// The rules of a partner configuration that a schema cannot say, each refusal naming the place; and the account a partner reads.
import { RE2JS } from 're2js'
import { fail } from '../errors.ts'
import { compareDecimals, placesOf } from '../money.ts'
import { currencyDecimals } from './currencies.ts'
import type { PartnerAccount, PartnerConfiguration } from './schema.ts'

export function emptyConfiguration(name: string): PartnerConfiguration {
  return {
    name,
    logo_url: '',
    kyc_mode: 'no_kyc',
    available_assets: [],
    available_investments: [],
    products: [],
    delegation_enabled: false,
  }
}

export function checkConfiguration(configuration: PartnerConfiguration): void {
  const { available_assets: assets, available_investments: investments } = configuration
  const incoming = configuration.available_incoming_fiat_instructions ?? []
  const outgoing = configuration.available_outgoing_fiat_instructions ?? []
  const fees = configuration.withdrawal_fees ?? []
  const checkCurrency = (code: string, place: string) => {
    if (currencyDecimals(code, assets) === undefined) {
      refuse(place, `is ${code}, which is neither one of available_assets nor an ISO 4217 currency`)
    }
  }

  if (configuration.logo_url !== '' && !isHttpsUrl(configuration.logo_url))
    refuse('logo_url', 'must be an https URL or empty')
  refuseDuplicates(
    assets.map((asset) => asset.id),
    (i) => `available_assets[${i}].id`,
  )
  refuseDuplicates(
    investments.map((investment) => investment.id),
    (i) => `available_investments[${i}].id`,
  )
  refuseDuplicates(
    incoming.map((each) => each.type),
    (i) => `available_incoming_fiat_instructions[${i}].type`,
  )
  refuseDuplicates(
    outgoing.map((each) => each.type),
    (i) => `available_outgoing_fiat_instructions[${i}].type`,
  )
  refuseDuplicates(
    fees.map((fee) => `${fee.type} ${fee.currency}`),
    (i) => `withdrawal_fees[${i}]`,
  )

  for (const [i, { subscription, redemption }] of investments.entries()) {
    const place = `available_investments[${i}]`
    refuseMinAboveMax(subscription, `${place}.subscription`)
    if (!isZero(redemption.max_amount)) refuseMinAboveMax(redemption, `${place}.redemption`)
  }
  for (const [i, instruction] of incoming.entries()) {
    const place = `available_incoming_fiat_instructions[${i}]`
    for (const [j, fee] of instruction.creation_fees.entries())
      checkCurrency(fee.currency, `${place}.creation_fees[${j}].currency`)
  }
  for (const [i, instruction] of outgoing.entries()) {
    const place = `available_outgoing_fiat_instructions[${i}]`
    refuseDuplicates(instruction.currencies, (j) => `${place}.currencies[${j}]`)
    refuseDuplicates(
      instruction.required_fields.map((field) => field.key),
      (j) => `${place}.required_fields[${j}].key`,
    )
    for (const [j, code] of instruction.currencies.entries()) checkCurrency(code, `${place}.currencies[${j}]`)
    for (const [j, field] of instruction.required_fields.entries()) checkField(field, `${place}.required_fields[${j}]`)
  }
  for (const [i, fee] of fees.entries()) {
    if (!outgoing.some((each) => each.type === fee.type)) {
      refuse(`withdrawal_fees[${i}].type`, `is ${fee.type}, which is not one of available_outgoing_fiat_instructions`)
    }
    checkCurrency(fee.currency, `withdrawal_fees[${i}].currency`)
    const decimals = currencyDecimals(fee.currency, assets)!
    if (placesOf(fee.fixed) > decimals) {
      refuse(`withdrawal_fees[${i}].fixed`, `has more decimals than ${fee.currency}, which has ${decimals}`)
    }
    if (compareDecimals(fee.percentage, '100') > 0) refuse(`withdrawal_fees[${i}].percentage`, 'must be at most 100')
  }
}

// What the partner sees: the fields of the specification in its order, nothing internal, empty instruction lists left out.
export function accountOf(configuration: PartnerConfiguration): PartnerAccount {
  const incoming = configuration.available_incoming_fiat_instructions ?? []
  const outgoing = configuration.available_outgoing_fiat_instructions ?? []
  return {
    name: configuration.name,
    logo_url: configuration.logo_url,
    kyc_mode: configuration.kyc_mode,
    available_assets: configuration.available_assets,
    available_investments: configuration.available_investments,
    products: configuration.products,
    ...(incoming.length > 0 ? { available_incoming_fiat_instructions: incoming } : {}),
    ...(outgoing.length > 0 ? { available_outgoing_fiat_instructions: outgoing } : {}),
    delegation_enabled: configuration.delegation_enabled,
  }
}

type RequiredField = NonNullable<
  PartnerConfiguration['available_outgoing_fiat_instructions']
>[number]['required_fields'][number]

function checkField({ regex, min_length, max_length }: RequiredField, place: string): void {
  if (min_length !== undefined && max_length !== undefined && min_length > max_length) {
    refuse(`${place}.min_length`, `is ${min_length}, above max_length, which is ${max_length}`)
  }
  if (regex === undefined) return
  const longest = max_length ?? longestValue
  if (programSize(regex, place) * longest > mostSteps) {
    refuse(`${place}.regex`, `would take too long on values of ${longest} characters; simplify it or lower max_length`)
  }
}

// RE2 runs in linear time; what it cannot (look-around, back-references) could stall the service and is refused here. Its time is
// that of the value times that of the pattern, though, and repetitions such as (a?){1000} are written out: so both are bounded.
const longestValue = 10_000
const mostSteps = 5_000_000 // a quarter of a second at worst

function programSize(regex: string, place: string): number {
  try {
    return RE2JS.compile(regex).programSize()
  } catch (error) {
    const why = (error as Error).message.replace(/^error parsing regexp: /, '')
    return refuse(`${place}.regex`, `is not a valid RE2 pattern: ${why}`)
  }
}

function refuse(place: string, what: string): never {
  throw fail('invalid_parameters', `${place} ${what}.`)
}

function refuseDuplicates(values: readonly string[], place: (index: number) => string): void {
  const seen = new Set<string>()
  for (const [index, value] of values.entries()) {
    if (seen.has(value)) refuse(place(index), `repeats ${value}, which is already in the list`)
    seen.add(value)
  }
}

function refuseMinAboveMax(
  { min_amount, max_amount }: { min_amount: string; max_amount: string },
  place: string,
): void {
  if (compareDecimals(min_amount, max_amount) > 0)
    refuse(`${place}.min_amount`, `is ${min_amount}, above max_amount, which is ${max_amount}`)
}

function isZero(decimal: string): boolean {
  return /^0(\.0+)?$/.test(decimal)
}

function isHttpsUrl(text: string): boolean {
  return URL.canParse(text) && new URL(text).protocol === 'https:'
}
