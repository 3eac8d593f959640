// Check digits: a typing mistake in a CBU, CVU, CLABE or CUIT never becomes a payout. Every single wrong digit is tried, through
// the API; about 500 requests.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertRefused, ok } from '../support/order-states.ts'
import { newOrderPartner } from '../support/orders.ts'
import { startTestService } from '../support/service.ts'

const service = await startTestService({ after })
const keys = ['cbu', 'cvu', 'clabe', 'destination_clabe', 'alias', 'cuit', 'holder-cuit', 'CUIL', 'cbus', 'my_alias']
const { api } = await newOrderPartner(service, {
  available_outgoing_fiat_instructions: [
    {
      type: 'ar_cbu',
      required_fields: ['cbu', 'holder_name'].map((key) => ({ key, type: 'string', optional: false })),
      currencies: ['ARS'],
    },
    ...keys.map((key) => ({
      type: `by ${key}`,
      required_fields: [{ key, type: 'string', optional: false }],
      currencies: ['ARS'],
    })),
  ],
  withdrawal_fees: [],
})

const create = (key: string, value: string) =>
  api.post('/partner/outgoing-instructions', { type: `by ${key}`, currency: 'ARS', fields: { [key]: value } })

async function accepted(key: string, ...values: string[]): Promise<void> {
  for (const value of values) await ok(create(key, value))
}

async function refused(key: string, ...values: string[]): Promise<void> {
  for (const value of values) {
    const sentence = assertRefused(await create(key, value), 400, 'invalid_parameters')
    assert.ok(sentence.startsWith(`fields.${key} must be a`), sentence)
  }
}

function singleMistakes(value: string): string[] {
  return [...value].flatMap((right, i) =>
    [...'0123456789'].filter((digit) => digit !== right).map((digit) => value.slice(0, i) + digit + value.slice(i + 1)),
  )
}

const cbu = '2850590940090418135201'
const cvu = '0000003100072461415651'
const clabe = '032180000118359719'
const cuit = '20123456786'

test('CBU and CVU: 22 digits, two check digits, either name for either', async () => {
  for (const key of ['cbu', 'cvu']) {
    await accepted(key, cbu, cvu)
    await refused(key, '2810590940090418135201', '', cbu.slice(1), `${cbu}0`, `${cbu}\n`, ` ${cbu}`, '２'.repeat(22))
    await refused(key, cbu.replace('285', '28５'), `${cbu.slice(0, 8)}-${cbu.slice(9)}`)
  }
})

test('every single wrong digit of a CBU is refused, both check digits included', async () => {
  const mistakes = singleMistakes(cbu)
  assert.equal(mistakes.length, 22 * 9)
  await refused('cbu', ...mistakes)
})

test('CLABE: 18 digits and every single wrong one refused', async () => {
  await accepted('clabe', clabe, '002010077777777771')
  await accepted('destination_clabe', clabe)
  await refused('clabe', '', clabe.slice(1), `${clabe}0`, `${clabe}\n`, cbu)
  const mistakes = singleMistakes(clabe)
  assert.equal(mistakes.length, 18 * 9)
  await refused('clabe', ...mistakes)
  await refused('destination_clabe', mistakes[0]!)
})

// Where the remainder is 10 the check digit is 9, as for a remainder of 9; so only of others every wrong digit can be told.
test('CUIT: 11 digits and every single wrong one refused; a remainder of 11 is 0 and of 10 is 9', async () => {
  await accepted('cuit', cuit)
  await accepted('holder-cuit', cuit)
  await accepted('CUIL', cuit)
  await refused('cuit', '', cuit.slice(1), `${cuit}0`, `${cuit}\n`, '20-12345678-6')
  const mistakes = singleMistakes(cuit)
  assert.equal(mistakes.length, 11 * 9)
  await refused('cuit', ...mistakes)
  await refused('CUIL', mistakes[0]!)
  const weights = [5, 4, 3, 2, 7, 6, 5, 4, 3, 2]
  const withRemainder = (wanted: number) => {
    for (let n = 2_000_000_000; ; n++) {
      const sum = weights.reduce((total, weight, i) => total + weight * Number(String(n)[i]), 0)
      if (11 - (sum % 11) === wanted) return String(n)
    }
  }
  for (const [remainder, digit] of [
    [11, '0'],
    [10, '9'],
    [9, '9'],
    [1, '1'],
  ] as const) {
    const base = withRemainder(remainder)
    await accepted('cuit', base + digit)
    await refused('cuit', ...[...'0123456789'].filter((each) => each !== digit).map((each) => base + each))
  }
})

test('an alias has 6 to 20 letters, digits, dots or hyphens', async () => {
  await accepted('alias', 'casa.1', 'PERRO-gato.9', 'a'.repeat(20), '......')
  await accepted('my_alias', 'casa.1')
  await refused('alias', '', 'casa1', 'a'.repeat(21), 'casa perro', 'casa_perro', 'ñandu.casa', 'casa.1\n', 'ｃasa.12')
})

test('a key that only resembles one of these is a text like any other', async () => {
  await accepted('cbus', 'whatever')
})
