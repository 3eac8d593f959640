// A configuration that makes no sense is refused whole, and the refusal names the place. Each row is one mistake made in an
// otherwise good document, and the place with which the message must begin.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { demoConfiguration } from '../../src/sandbox/demo-configuration.ts'
import type { Body } from '../support/client.ts'
import { startTestService } from '../support/service.ts'

const service = await startTestService({ after })
const path = `/partners/${service.demoPartnerId}/configuration`

type Mistake = (configuration: Body) => void
type Row = [what: string, mistake: Mistake, place: string]

const investment = 'available_investments[0]'
const incoming = 'available_incoming_fiat_instructions[0]'
const outgoing = 'available_outgoing_fiat_instructions[0]'
const field = `${outgoing}.required_fields[1]`
const fee = 'withdrawal_fees[0]'

// 'a[0].b' → the value there
const at = (configuration: Body, place: string): Body =>
  place.split(/[.[\]]+/).reduce((value, name) => (name === '' ? value : value[name]), configuration)
const put =
  (place: string, values: object): Mistake =>
  (configuration) =>
    Object.assign(at(configuration, place), values)
const add =
  (place: string, value: string): Mistake =>
  (configuration) =>
    at(configuration, place).push(value)
const repeatFirst =
  (place: string): Mistake =>
  (configuration) =>
    at(configuration, place).push(structuredClone(at(configuration, place)[0]))
const drop =
  (place: string, name: string): Mistake =>
  (configuration) => {
    assert.ok(name in at(configuration, place), `${name} is there to be taken away`)
    delete at(configuration, place)[name]
  }
const amounts = (kind: string, min_amount: string, max_amount: string): Row[1] =>
  put(`${investment}.${kind}`, { min_amount, max_amount })

const senseless: Row[] = [
  ['a regex that does not parse', put(field, { regex: '(' }), `${field}.regex`],
  ['a regex with look-ahead', put(field, { regex: '^(?=a)b$' }), `${field}.regex`],
  ['a regex with look-behind', put(field, { regex: '(?<!a)b' }), `${field}.regex`],
  ['a regex with a back-reference', put(field, { regex: '(a)\\1' }), `${field}.regex`],
  ['a regex of explosive size', put(field, { regex: '((a{100}){100}){100}' }), `${field}.regex`],
  ['a regex that is a number', put(field, { regex: 7 }), `${field}.regex`],
  ['a subscription minimum above its maximum', amounts('subscription', '10.01', '10'), `${investment}.subscription`],
  [
    'a minimum above its maximum by less than a float can tell',
    amounts('subscription', `1${'0'.repeat(30)}1`, `1${'0'.repeat(31)}`),
    `${investment}.subscription`,
  ],
  ['a subscription maximum of 0, a cap', amounts('subscription', '1', '0'), `${investment}.subscription`],
  ['a redemption minimum above its maximum', amounts('redemption', '5', '4.999'), `${investment}.redemption`],
  ['a least length above the most', put(field, { min_length: 9, max_length: 8 }), `${field}.min_length`],
  ['a negative length', put(field, { min_length: -1 }), `${field}.min_length`],
  ['a withdrawal fee for an unknown instruction', put(fee, { type: 'xx' }), `${fee}.type`],
  ['a withdrawal fee in an unknown currency', put(fee, { currency: 'QQQ' }), `${fee}.currency`],
  ['a withdrawal fee finer than its currency', put(fee, { fixed: '0.001' }), `${fee}.fixed`],
  ['a withdrawal fee above all of the amount', put(fee, { percentage: '100.1' }), `${fee}.percentage`],
  ['a network with capitals', put(investment, { network: 'Ethereum' }), `${investment}.network`],
  ['a logo that is not https', put('', { logo_url: 'http://demo.example/logo.svg' }), 'logo_url'],
  ['an empty name', put('', { name: '' }), 'name'],
  ['a fraction of a decimal place', put('available_assets[0]', { decimal_places: 2.5 }), 'available_assets[0].decimal'],
  ['decimal places as text', put('available_assets[0]', { decimal_places: '8' }), 'available_assets[0].decimal_places'],
  ['a yes instead of true', put('', { delegation_enabled: 'yes' }), 'delegation_enabled'],
  ['null instead of a list', put('', { available_assets: null }), 'available_assets'],
]
const unknown: Row[] = [
  ['an unknown product', add('products', 'crypto_mine'), 'products[5]'],
  [
    'an unknown operation',
    add('available_assets[3].allowed_operations', 'burn'),
    'available_assets[3].allowed_operations[2]',
  ],
  ['an unknown kyc mode', put('', { kyc_mode: 'strict' }), 'kyc_mode'],
  ['an unknown currency of an outgoing instruction', add(`${outgoing}.currencies`, 'QQQ'), `${outgoing}.currencies[1]`],
  ['a currency in the wrong case', add(`${outgoing}.currencies`, 'usd'), `${outgoing}.currencies[1]`],
  ['an asset that the partner does not have', add(`${outgoing}.currencies`, 'DOGE'), `${outgoing}.currencies[1]`],
  [
    'an unknown currency of a creation fee',
    put(`${incoming}.creation_fees[0]`, { currency: 'QQQ' }),
    `${incoming}.creation_fees[0].currency`,
  ],
  ...['', 'available_assets[0]', investment, `${investment}.redemption`, `${investment}.fee`, incoming].map(
    unknownField,
  ),
  ...[`${incoming}.creation_fees[0]`, outgoing, field, fee].map(unknownField),
]
const repeated: Row[] = [
  ['an asset', 'available_assets', 'available_assets[5].id'],
  ['an investment', 'available_investments', 'available_investments[2].id'],
  ['an incoming type', 'available_incoming_fiat_instructions', 'available_incoming_fiat_instructions[2].type'],
  ['an outgoing type', 'available_outgoing_fiat_instructions', 'available_outgoing_fiat_instructions[3].type'],
  ['a required field', `${outgoing}.required_fields`, `${outgoing}.required_fields[3].key`],
  ['a currency of an instruction', `${outgoing}.currencies`, `${outgoing}.currencies[1]`],
  ['a product', 'products', 'products'],
  ['an operation', 'available_assets[0].allowed_operations', 'available_assets[0].allowed_operations'],
  ['a withdrawal fee', 'withdrawal_fees', 'withdrawal_fees[3]'],
].map(([what, list, place]) => [`${what} twice`, repeatFirst(list!), place!])

const everyField = ['', 'available_assets[0]', investment, `${investment}.subscription`, `${investment}.redemption`]
  .concat(`${investment}.fee`, incoming, `${incoming}.creation_fees[0]`, outgoing, field, fee)
  .flatMap((place) => Object.keys(at(demoConfiguration, place)).map((name) => [place, name] as const))
const mayBeMissing = /^(regex|min_length|max_length|withdrawal_fees|available_\w+_fiat_instructions)$/
const missing: Row[] = everyField
  .filter(([, name]) => !mayBeMissing.test(name))
  .map(([place, name]) => [`no ${member(place, name)}`, drop(place, name), member(place, name)])

for (const [what, mistake, place] of [...senseless, ...unknown, ...repeated, ...missing]) {
  test(`${what} is refused, naming ${place}`, () => refusedAt(mistake, place))
}

const badDecimals = [
  '1e3',
  '-1',
  '+1',
  '01',
  '00',
  '.5',
  '1.',
  '',
  ' 1',
  '1 ',
  '1\n',
  '1,5',
  '0x1',
  'NaN',
  '٣',
  1,
  1.5,
  null,
]
for (const [place, name] of [
  [`${investment}.subscription`, 'min_amount'],
  [`${investment}.redemption`, 'max_amount'],
  [`${investment}.fee`, 'value'],
  [`${incoming}.creation_fees[0]`, 'value'],
  [fee, 'percentage'],
] as const) {
  test(`nothing but a plain decimal string is taken at ${place}.${name}`, async () => {
    for (const bad of badDecimals) await refusedAt(put(place, { [name]: bad }), `${place}.${name}`)
  })
}

test('after all these refusals nothing has changed, nor was anything noted as done', async () => {
  assert.deepEqual((await service.operator.get(path)).body, demoConfiguration)
  const { body: history } = await service.operator.get(`${path}/versions`)
  assert.equal(history.versions.length, 1)
  const { body: log } = await service.operator.get(`/audit-log?partner_id=${service.demoPartnerId}`)
  assert.ok(!log.entries.some((each: Body) => each.action === 'configuration.written'))
})

test('a new partner with a bad configuration is refused and not created', async () => {
  const configuration = { ...demoConfiguration, kyc_mode: 'strict' }
  assert.equal((await service.operator.post('/partners', { name: 'Never', configuration })).status, 400)
  assert.equal((await service.operator.get('/partners')).body.partners.length, 1)
})

async function refusedAt(mistake: Mistake, place: string): Promise<void> {
  const configuration = structuredClone(demoConfiguration)
  mistake(configuration)
  const { status, body } = await service.operator.put(path, configuration)
  assert.deepEqual([status, body.error_code], [400, 'invalid_parameters'], JSON.stringify(body))
  assert.ok(body.error_msg.startsWith(place), `"${body.error_msg}" begins with ${place}`)
}

function unknownField(place: string): Row {
  return [`an unknown field in ${place || 'the whole'}`, put(place, { surprise: 1 }), member(place, 'surprise')]
}

function member(place: string, name: string): string {
  return place === '' ? name : `${place}.${name}`
}
