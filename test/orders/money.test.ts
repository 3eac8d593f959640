// Money through the API: amounts come back digit for digit wherever they are shown, and whatever is not exactly an amount of its
// currency is refused, naming the field, with nothing changed.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { demoConfiguration } from '../../src/sandbox/demo-configuration.ts'
import type { Body } from '../support/client.ts'
import { startEndpoint } from '../support/endpoint.ts'
import { assertRefused, ok } from '../support/order-states.ts'
import { assertReconciled, balance, newOrderPartner, showOrder, topUp } from '../support/orders.ts'
import { subscribe } from '../support/partner.ts'
import { startTestService } from '../support/service.ts'

const service = await startTestService({ after }, { environment: { PAYOUT_RAIL: 'operator' } })
const asset = (id: string, decimal_places: number) => ({ id, decimal_places, allowed_operations: ['send'] })
const partner = await newOrderPartner(service, {
  available_assets: [...demoConfiguration.available_assets, asset('WEI', 18), asset('DUST', 30)],
  available_outgoing_fiat_instructions: [
    ...demoConfiguration.available_outgoing_fiat_instructions!,
    { type: 'any', required_fields: [], currencies: ['WEI', 'DUST', 'JPY', 'KWD', 'ARS'] },
  ],
})
const { api } = partner

async function instructionFor(currency: string): Promise<string> {
  const given = { type: 'any', currency, fields: {} }
  return (await ok(api.post('/partner/outgoing-instructions', given))).body.id
}

const order = (currency: string, amount: unknown, instruction_id: string) => ({
  operation: 'withdrawal',
  withdrawal: { currency, amount, type: 'outgoing_instruction', outgoing_instruction: { instruction_id } },
})

for (const [currency, amount] of [
  ['WEI', '123456789012345678901234567890.123456789012345678'],
  ['WEI', '0.000000000000000001'],
  ['WEI', '999999999999.999999999999999990'],
  ['DUST', '9007199254740993.000000000000000000000000000001'],
  ['DUST', '123456789012345678901234567890123456789012345678.123456789012345678901234567890'],
  ['JPY', '100000000000000000000000000001'],
  ['KWD', '1.230'],
  ['ARS', '5'],
  ['ARS', '5.0'],
  ['ARS', '5.00'],
] as const) {
  test(`${amount} ${currency} is the same everywhere, from the top-up to the payout`, async (t) => {
    const { api, id } = await newOrderPartner(service, { funds: '0', ...(await configurationOf(partner.id)) })
    const endpoint = await startEndpoint(t)
    await subscribe(api, endpoint.url, { events: ['partner-order-created', 'partner-order-closed'] })
    const credit = await topUp(service, id, amount, currency)
    assert.deepEqual([credit.settlement.amount, credit.top_up], [amount, { currency, amount }])
    const instruction = (await ok(api.post('/partner/outgoing-instructions', { type: 'any', currency, fields: {} })))
      .body.id
    const created = (await ok(api.post('/partner/orders', order(currency, amount, instruction)))).body
    const money = { currency, amount, destination_amount: amount, fee_amount: zero(amount) }
    const check = ({ settlement, withdrawal }: Body) => {
      assert.deepEqual(settlement, { currency, amount, operation: 'debit' })
      const { type, outgoing_instruction, ...shown } = withdrawal
      assert.deepEqual(shown, money)
    }
    const path = `/partner/orders/${created.id}`
    check(created)
    check((await ok(api.post(`${path}/confirm`))).body)
    check((await ok(service.operator.post(`/orders/${created.id}/take`))).body)
    check((await ok(service.operator.post(`/orders/${created.id}/complete`))).body)
    check(await showOrder(api, created.id))
    check((await api.get('/partner/orders?operation=withdrawal')).body.orders[0])
    const told = (await endpoint.until(4)).map(({ event }) => event.partner_order)
    for (const each of told) {
      if (each.operation === 'withdrawal') check(each)
      else assert.deepEqual([each.settlement.amount, each.top_up], [amount, { currency, amount }])
    }

    const { entries } = (await ok(api.get(`/partner/settlement-accounts/${currency}/statement`))).body
    const full = withDecimals(amount, currency)
    const none = withDecimals('0', currency)
    assert.deepEqual(
      entries.map((each: Body) => [each.kind, each.available_change, each.held_change, each.available, each.held]),
      [
        ['payout', none, `-${full}`, none, none],
        ['hold', `-${full}`, full, none, full],
        ['top_up', full, none, full, none],
      ],
    )
    assert.deepEqual(await balance(api, currency), [none, none])
  })
}

async function configurationOf(id: string): Promise<Body> {
  return (await ok(service.operator.get(`/partners/${id}/configuration`))).body
}

function zero(amount: string): string {
  const places = amount.split('.')[1]?.length ?? 0
  return places === 0 ? '0' : `0.${'0'.repeat(places)}`
}

function withDecimals(amount: string, currency: string): string {
  const decimals = { WEI: 18, DUST: 30, JPY: 0, KWD: 3, ARS: 2 }[currency]!
  const [whole, fraction = ''] = amount.split('.')
  return decimals === 0 ? amount : `${whole}.${fraction.padEnd(decimals, '0')}`
}

// biome-ignore format: a list reads best as one
const impossible: unknown[] = [
  '1e3', '1E3', '-1', '+1', '01', '00', '.5', '1.', '0', '0.00', '', ' 1', '1 ', '1\n', '\n1', 'NaN', 'Infinity', '0x10', '1,000', '1.2.3',
  '１００', '٣', '1_000', '1.00\u200b', '−1', '9'.repeat(400), `1.${'0'.repeat(400)}`, '1.001', '1.000', 1000, 10.5, 0, null, true, ['1'], { amount: '1' },
]

test('whatever is not an amount is refused with the field named, in orders and in top-ups, and nothing changes', async () => {
  const { api, id, instructionId } = await newOrderPartner(service)
  const before = await balance(api)
  for (const amount of impossible) {
    const refusals: [string, Body][] = [
      ['withdrawal.amount', await api.post('/partner/orders', order('ARS', amount, instructionId))],
      [
        'amount',
        await service.operator.post(`/partners/${id}/top-ups`, { currency: 'ARS', amount, reference_id: 'x' }),
      ],
      ['amount', await api.post('/sandbox/top-ups', { currency: 'ARS', amount, reference_id: 'x' })],
    ]
    for (const [place, reply] of refusals) {
      const sentence = assertRefused(reply, 400, 'invalid_parameters')
      assert.ok(sentence.startsWith(`${place} `), `${JSON.stringify(amount)}: ${sentence}`)
      assert.ok(sentence.length < 300, 'a short sentence, however long the amount')
    }
  }
  assert.deepEqual((await api.get('/partner/orders?operation=withdrawal')).body.orders, [])
  assert.equal((await api.get('/partner/orders?operation=top_up')).body.orders.length, 1)
  assert.deepEqual(await balance(api), before)
})

test('one decimal more than the currency has is refused, and as many as it has are not', async () => {
  for (const [currency, fine, tooMany] of [
    ['JPY', '1', '1.0'],
    ['KWD', '1.001', '1.0010'],
    ['WEI', '0.000000000000000001', '0.0000000000000000010'],
  ] as const) {
    const instruction = await instructionFor(currency)
    await ok(api.post('/partner/orders', order(currency, fine, instruction)))
    const sentence = assertRefused(
      await api.post('/partner/orders', order(currency, tooMany, instruction)),
      ...([400, 'invalid_parameters'] as const),
    )
    assert.match(sentence, /^withdrawal\.amount has \d+ decimals, but \w+ has \d+\.$/)
  }
})

test('an unknown currency is refused, and one that the instruction is not for', async () => {
  for (const currency of ['XXX', 'ars', 'ZZZ', 'XAU', '']) {
    const sentence = assertRefused(
      await api.post('/partner/orders', order(currency, '1.00', partner.instructionId)),
      ...([400, 'invalid_parameters'] as const),
    )
    assert.match(sentence, /^withdrawal\.currency /)
    const credit = { currency, amount: '1.00', reference_id: 'x' }
    const refused = await service.operator.post(`/partners/${partner.id}/top-ups`, credit)
    assert.match(assertRefused(refused, 400, 'invalid_parameters'), /^currency /)
  }
  const other = await api.post('/partner/orders', order('MXN', '1.00', partner.instructionId))
  assertRefused(other, 400, 'invalid_destination')
  await assertReconciled(service)
})
