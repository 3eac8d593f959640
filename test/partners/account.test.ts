// GET /partner: section 2.1 of the specification, field by field. This table is the contract; it is written by hand so that a
// change to the service's own schema cannot change it.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { demoConfiguration } from '../../src/sandbox/demo-configuration.ts'
import { type Body, createClient } from '../support/client.ts'
import { startTestService } from '../support/service.ts'

const service = await startTestService({ after })

type Check = (value: Body, place: string) => void
const decimal = /^(0|[1-9][0-9]*)(\.[0-9]+)?$/

const is =
  (type: 'string' | 'boolean'): Check =>
  (value, place) =>
    assert.equal(typeof value, type, place)
const isInteger: Check = (value, place) => assert.ok(Number.isInteger(value), place)
const isDecimal: Check = (value, place) => {
  assert.equal(typeof value, 'string', place)
  assert.match(value, decimal, place)
}
const matches =
  (pattern: RegExp): Check =>
  (value, place) =>
    assert.match(value, pattern, place)
const oneOf =
  (...values: string[]): Check =>
  (value, place) =>
    assert.ok(values.includes(value), `${place} is ${value}`)
const list =
  (each: Check): Check =>
  (value, place) => {
    assert.ok(Array.isArray(value) && value.length > 0, `${place} is a list with something to check`)
    for (const [i, item] of value.entries()) each(item, `${place}[${i}]`)
  }
// Exactly these members, of these types; a name ending in `?` may be missing.
const object =
  (members: Record<string, Check>): Check =>
  (value, place) => {
    const names = Object.keys(members).map((name) => name.replace('?', ''))
    const unexpected = Object.keys(value).filter((name) => !names.includes(name))
    assert.deepEqual(unexpected, [], `${place} has only what is specified`)
    for (const [name, check] of Object.entries(members)) {
      const plain = name.replace('?', '')
      if (name === plain || plain in value) check(value[plain], `${place}.${plain}`)
    }
  }

const limits = object({ min_amount: isDecimal, max_amount: isDecimal })
const account = object({
  name: is('string'),
  logo_url: matches(/^https:\/\//),
  kyc_mode: oneOf('no_kyc', 'partner_collect', 'service_collect'),
  available_assets: list(
    object({
      id: is('string'),
      decimal_places: isInteger,
      allowed_operations: list(oneOf('buy', 'receive', 'sell', 'send', 'transfer')),
    }),
  ),
  available_investments: list(
    object({
      id: is('string'),
      quote_asset: is('string'),
      network: matches(/^[a-z0-9._-]+$/),
      provider_id: is('string'),
      subscription: limits,
      redemption: limits,
      fee: object({ type: is('string'), value: isDecimal }),
      name: is('string'),
      enabled: is('boolean'),
    }),
  ),
  products: list(oneOf('crypto_buy_sell', 'crypto_receive', 'crypto_send', 'crypto_swap', 'investments')),
  available_incoming_fiat_instructions: list(
    object({
      type: is('string'),
      creation_fees: list(object({ type: is('string'), value: isDecimal, currency: is('string') })),
    }),
  ),
  available_outgoing_fiat_instructions: list(
    object({
      type: is('string'),
      required_fields: list(
        object({
          key: is('string'),
          type: is('string'),
          'regex?': is('string'),
          'min_length?': isInteger,
          'max_length?': isInteger,
          optional: is('boolean'),
        }),
      ),
      currencies: list(is('string')),
    }),
  ),
  delegation_enabled: is('boolean'),
})

test('the account has every field of the specification and no other, each with its type', async () => {
  const { status, headers, body } = await service.partner.get('/partner')
  assert.equal(status, 200)
  assert.match(headers.get('content-type')!, /^application\/json/)
  account(body, 'account')
})

test('the account says exactly what the operator wrote, in the order written, without what is internal', async () => {
  const { text } = await service.partner.get('/partner')
  const { withdrawal_fees: fees, ...visible } = demoConfiguration
  assert.ok(fees && fees.length > 0, 'there is something internal to hide')
  assert.equal(text, JSON.stringify(visible))
})

test('the same account answers with and without the /v1 prefix', async () => {
  const unprefixed = createClient(service.url, '', service.demoSecret)
  const [one, other] = [await service.partner.get('/partner'), await unprefixed.get('/partner')]
  assert.deepEqual([one.status, other.status], [200, 200])
  assert.equal(other.text, one.text)
  assert.equal(other.headers.get('etag'), one.headers.get('etag'))
})

test('HEAD answers like GET, without a body', async () => {
  const get = await service.partner.get('/partner')
  const head = await service.partner.call('HEAD', '/partner')
  assert.equal(head.status, 200)
  assert.equal(head.text, '')
  for (const name of ['etag', 'content-type', 'content-length']) {
    assert.ok(get.headers.get(name), name)
    assert.equal(head.headers.get(name), get.headers.get(name), name)
  }
})

test('a partner without instructions gets neither of the two arrays, however "none" was written', async () => {
  for (const none of [{}, { available_incoming_fiat_instructions: [], available_outgoing_fiat_instructions: [] }]) {
    const { partner } = await newPartner({ ...minimal, ...none })
    const { body } = await partner.get('/partner')
    assert.deepEqual(body, minimal)
  }
})

test('one kind of instruction is shown while the other is left out', async () => {
  const incoming = { available_incoming_fiat_instructions: [{ type: 'mx_clabe', creation_fees: [] }] }
  const { partner } = await newPartner({ ...minimal, ...incoming, available_outgoing_fiat_instructions: [] })
  const { body } = await partner.get('/partner')
  assert.deepEqual(body, { ...minimal, ...incoming })
})

test('decimal strings and names come back character for character', async () => {
  const investment = {
    ...demoConfiguration.available_investments[0]!,
    subscription: { min_amount: '0.10', max_amount: `1${'0'.repeat(30)}.000000000000000000` },
    redemption: { min_amount: '1.0', max_amount: '0' },
    fee: { type: 'earnings_percentage', value: '12.50' },
    name: 'Ahorro «ñandú» 💸',
  }
  const { partner } = await newPartner({ ...minimal, available_investments: [investment] })
  const { body } = await partner.get('/partner')
  assert.deepEqual(body.available_investments, [investment])
})

test('an unchanged account is answered with 304, and a new configuration changes its ETag at once', async () => {
  const { id, partner } = await newPartner(minimal)
  const first = await partner.get('/partner')
  const etag = first.headers.get('etag')!
  for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
    const again = await partner.get('/partner', { headers: { 'if-none-match': known } })
    assert.deepEqual([again.status, again.text, again.headers.get('etag')], [304, '', etag], known)
  }
  await service.operator.put(`/partners/${id}/configuration`, { ...minimal, delegation_enabled: true })
  const changed = await partner.get('/partner', { headers: { 'if-none-match': etag } })
  assert.equal(changed.status, 200)
  assert.equal(changed.body.delegation_enabled, true)
  assert.notEqual(changed.headers.get('etag'), etag)
})

const minimal = {
  name: 'Small Partner',
  logo_url: '',
  kyc_mode: 'no_kyc',
  available_assets: [],
  available_investments: [] as unknown[],
  products: [],
  delegation_enabled: false,
}

async function newPartner(configuration: typeof minimal & Record<string, unknown>) {
  const created = await service.operator.post('/partners', { name: configuration.name, configuration })
  assert.equal(created.status, 201)
  const id: string = created.body.id
  const key = await service.operator.post(`/partners/${id}/keys`, { name: 'test', scopes: ['partner:read'] })
  return { id, partner: createClient(service.url, '/v1', key.body.secret) }
}
