// Fees: a fixed part plus a percentage, rounded up to the currency's minor unit, always so that amount = destination + fee; the
// arithmetic is held against plain whole numbers.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import {
  add,
  compareDecimals,
  feeOf,
  negate,
  parseDecimal,
  placesOf,
  withPlaces,
  writeDecimal,
} from '../../src/money.ts'
import { demoConfiguration } from '../../src/sandbox/demo-configuration.ts'
import { assertRefused, ok } from '../support/order-states.ts'
import { newOrderPartner } from '../support/orders.ts'
import { startTestService } from '../support/service.ts'

const service = await startTestService({ after })
const fee = (type: string, currency: string, fixed: string, percentage: string) => ({
  type,
  currency,
  fixed,
  percentage,
})
const currencies = ['ARS', 'CLP', 'JPY', 'ETH', 'KWD']
const types = ['none', 'fixed', 'part', 'both', 'tiny', 'all']
const { api } = await newOrderPartner(service, {
  available_outgoing_fiat_instructions: [
    ...demoConfiguration.available_outgoing_fiat_instructions!,
    ...types.map((type) => ({ type, required_fields: [], currencies })),
  ],
  withdrawal_fees: [
    fee('fixed', 'ARS', '50.5', '0'),
    fee('fixed', 'JPY', '3', '0'),
    fee('part', 'ARS', '0', '0.5'),
    fee('part', 'CLP', '0', '0.5'),
    fee('part', 'JPY', '0', '33.333'),
    fee('part', 'ETH', '0', '0.1'),
    fee('part', 'KWD', '0', '1.5'),
    fee('both', 'ARS', '10.00', '2.25'),
    fee('both', 'ETH', '0.000000000000000001', '50'),
    fee('tiny', 'ARS', '0', '0.000000000000000000000000000001'),
    fee('all', 'ARS', '0', '100'),
  ],
})
const instructions = new Map<string, string>()

async function create(type: string, currency: string, amount: string) {
  const key = `${type} ${currency}`
  if (!instructions.has(key)) {
    const made = await ok(api.post('/partner/outgoing-instructions', { type, currency, fields: {} }))
    instructions.set(key, made.body.id)
  }
  const outgoing_instruction = { instruction_id: instructions.get(key)! }
  const withdrawal = { currency, amount, type: 'outgoing_instruction', outgoing_instruction }
  return api.post('/partner/orders', { operation: 'withdrawal', withdrawal })
}

// biome-ignore format: a table reads best as one
const examples: [type: string, currency: string, amount: string, fee: string, destination: string][] = [
  ['none', 'ARS', '1000.00', '0.00', '1000.00'],
  ['none', 'ARS', '1000', '0', '1000'],
  ['fixed', 'CLP', '7', '0', '7'], // a fee for one currency is none for another
  ['fixed', 'ARS', '1000.00', '50.50', '949.50'],
  ['fixed', 'ARS', '1000', '50.5', '949.5'], // no more decimals than are needed
  ['fixed', 'JPY', '4', '3', '1'],
  ['part', 'ARS', '1000.00', '5.00', '995.00'],
  ['part', 'ARS', '1000.01', '5.01', '995.00'], // 5.00005, rounded up
  ['part', 'ARS', '0.02', '0.01', '0.01'], // 0.0001, rounded up
  ['part', 'ARS', '3', '0.02', '2.98'], // 0.015
  ['part', 'CLP', '1000', '5', '995'],
  ['part', 'CLP', '1001', '6', '995'], // 5.005, rounded up to the whole peso
  ['part', 'CLP', '2', '1', '1'],
  ['part', 'JPY', '100000', '33333', '66667'],
  ['part', 'JPY', '100001', '33334', '66667'],
  ['part', 'KWD', '1.234', '0.019', '1.215'], // 0.01851
  ['part', 'ETH', '1.000000000000000001', '0.001000000000000001', '0.999000000000000000'],
  ['part', 'ETH', '1', '0.001', '0.999'],
  ['both', 'ARS', '100.00', '12.25', '87.75'],
  ['both', 'ARS', '100.01', '12.26', '87.75'],
  ['both', 'ETH', '0.000000000000000004', '0.000000000000000003', '0.000000000000000001'],
  ['tiny', 'ARS', '99999999999999999999.99', '0.01', '99999999999999999999.98'],
]

for (const [type, currency, amount, feeAmount, destinationAmount] of examples) {
  test(`${type} fee of ${amount} ${currency} is ${feeAmount}`, async () => {
    const { withdrawal, settlement } = (await ok(create(type, currency, amount))).body
    assert.deepEqual(
      [withdrawal.amount, withdrawal.fee_amount, withdrawal.destination_amount, settlement.amount],
      [amount, feeAmount, destinationAmount, amount],
    )
  })
}

test('an amount that the fee eats up is refused, one minor unit more is not', async () => {
  for (const [type, currency, amount, enough] of [
    ['fixed', 'ARS', '50.50', '50.51'],
    ['fixed', 'ARS', '1', '51'],
    ['fixed', 'JPY', '3', '4'],
    ['part', 'ARS', '0.01', '0.02'],
    ['part', 'CLP', '1', '2'],
    ['both', 'ARS', '10.23', '10.25'],
    ['both', 'ETH', '0.000000000000000002', '0.000000000000000003'],
  ] as const) {
    const sentence = assertRefused(await create(type, currency, amount), 400, 'invalid_parameters')
    assert.match(sentence, /^withdrawal\.amount must be above the fee, which is [0-9.]+ [A-Z]+\.$/)
    if (!(type === 'both' && currency === 'ETH')) await ok(create(type, currency, enough))
  }
  for (const amount of ['0.01', '1000000']) assertRefused(await create('all', 'ARS', amount), 400, 'invalid_parameters')
})

const places = 40
const scale = 10n ** BigInt(places)
function units(text: string): bigint {
  const [whole, fraction = ''] = text.replace('-', '').split('.')
  const all = BigInt(whole!) * scale + BigInt(fraction.padEnd(places, '0'))
  return text.startsWith('-') ? -all : all
}

let seed = 20_260_105
function random(below: number): number {
  seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
  return seed % below
}
function randomDecimal(mostPlaces: number): string {
  const digits = (count: number) => Array.from({ length: count }, () => random(10)).join('')
  const whole = String(BigInt(`0${digits(random(25))}`))
  const fraction = digits(random(mostPlaces + 1))
  return fraction === '' ? whole : `${whole}.${fraction}`
}

test('sums, signs and comparisons of random decimals are those of whole numbers', () => {
  for (let i = 0; i < 2_000; i++) {
    const [a, b] = [randomDecimal(18), randomDecimal(18)]
    const minus = negate(b)
    assert.equal(units(add(a, b)), units(a) + units(b), `${a} + ${b}`)
    assert.equal(units(add(a, minus)), units(a) - units(b), `${a} - ${b}`)
    assert.equal(placesOf(add(a, b)), Math.max(placesOf(a), placesOf(b)))
    assert.equal(negate(minus), b)
    assert.equal(Math.sign(Number(units(a) - units(b))), compareDecimals(a, b), `${a} <=> ${b}`)
    assert.equal(writeDecimal(parseDecimal(a)), a)
    assert.equal(units(withPlaces(a, 20)), units(a))
    assert.equal(placesOf(withPlaces(a, 20)), 20)
  }
})

test('a random fee is the least multiple of the minor unit that is not below fixed + percentage', () => {
  for (let i = 0; i < 2_000; i++) {
    const decimals = [0, 2, 3, 8, 18][random(5)]!
    const [amount, fixed, percentage] = [randomDecimal(decimals), randomDecimal(decimals), randomDecimal(6)]
    const paid = feeOf(amount, { fixed, percentage }, decimals)
    const minorUnit = scale / 10n ** BigInt(decimals)
    const exact = units(fixed) * scale * 100n + units(amount) * units(percentage) // in hundredths of scale²
    const whole = minorUnit * scale * 100n
    assert.equal(units(paid), ((exact + whole - 1n) / whole) * minorUnit, `${fixed} + ${percentage} % of ${amount}`)
    assert.ok(placesOf(paid) <= Math.max(decimals, placesOf(amount)))
  }
})
