// Settlement accounts: top-ups, balances and statements, added up again by the test; the CSV says the same as the JSON.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { add } from '../../src/money.ts'
import type { ApiClient, Body } from '../support/client.ts'
import { startEndpoint } from '../support/endpoint.ts'
import { assertRefused, ok, orderIn } from '../support/order-states.ts'
import { assertReconciled, balance, newOrderPartner, topUp } from '../support/orders.ts'
import { subscribe } from '../support/partner.ts'
import { startTestService } from '../support/service.ts'

const service = await startTestService({ after }, { environment: { PAYOUT_RAIL: 'operator' } })
const { operator } = service
const columns = ['entry', 'created_at', 'kind', 'order_id', 'available_change', 'held_change', 'available', 'held']
const statementOf = (currency: string) => `/partner/settlement-accounts/${currency}/statement`

// All entries, oldest first, page by page.
async function readStatement(api: ApiClient, currency = 'ARS', query = 'limit=7'): Promise<Body[]> {
  const entries: Body[] = []
  let cursor = ''
  do {
    const { body } = await ok(api.get(`${statementOf(currency)}?${query}${cursor}`))
    entries.push(...body.entries)
    cursor = body.next_cursor === null ? '' : `&cursor=${body.next_cursor}`
  } while (cursor !== '')
  return entries.reverse()
}

async function readCsv(api: ApiClient, currency = 'ARS', query = ''): Promise<Body[]> {
  const { headers, text } = await ok(api.get(`${statementOf(currency)}?format=csv${query}`))
  assert.equal(headers.get('content-type'), 'text/csv; charset=utf-8')
  assert.equal(headers.get('content-disposition'), `attachment; filename="statement-${currency}.csv"`)
  const [head, ...lines] = text.split('\r\n')
  assert.equal(head, columns.join(','))
  assert.equal(lines.pop(), '', 'the last line ends like the others')
  return lines.map((line) => {
    const cells = line.split(',')
    assert.equal(cells.length, columns.length)
    return Object.fromEntries(columns.map((column, i) => [column, column === 'entry' ? Number(cells[i]) : cells[i]]))
  })
}

test('a top-up is a completed credit order with its two events, whoever reports it', async (t) => {
  const { id, api } = await newOrderPartner(service, { funds: '0' })
  const endpoint = await startEndpoint(t)
  await subscribe(api, endpoint.url, {
    events: ['partner-order-created', 'partner-order-updated', 'partner-order-closed'],
  })
  const made: Body[] = []
  made.push(
    (await ok(operator.post(`/partners/${id}/top-ups`, { currency: 'ARS', amount: '10.5', reference_id: 'wire 7' })))
      .body,
  )
  made.push((await ok(api.post('/sandbox/top-ups', { currency: 'ARS', amount: '0.25', reference_id: 'mine' }))).body)
  made.push((await ok(api.post('/sandbox/top-ups', { currency: 'BTC', amount: '1' }))).body)
  for (const [i, [currency, amount, reference]] of [
    ['ARS', '10.5', 'wire 7'],
    ['ARS', '0.25', 'mine'],
    ['BTC', '1', null],
  ].entries()) {
    const { id, created_at, reference_id, ...rest } = made[i]
    if (reference !== null) assert.equal(reference_id, reference)
    assert.deepEqual(rest, {
      ...{ state: 'completed', operation: 'top_up', processed_at: created_at, last_updated_at: created_at },
      settlement: { currency, amount, operation: 'credit' },
      top_up: { currency, amount },
      ...{ state_reason: null, expires_at: null, closed_at: created_at },
    })
  }
  const told = (await endpoint.until(6)).map(({ event }) => event)
  for (const order of made)
    assert.deepEqual(
      told
        .filter((event) => event.partner_order.id === order.id)
        .map((event) => [event.action, event.partner_order])
        .sort(),
      [
        ['partner-order-closed', order],
        ['partner-order-created', order],
      ],
    )
  assert.deepEqual(
    [await balance(api), await balance(api, 'BTC')],
    [
      ['10.75', '0.00'],
      ['1.00000000', '0.00000000'],
    ],
  )
  const { settlement_accounts: accounts, next_cursor } = (await ok(api.get('/partner/settlement-accounts?limit=1')))
    .body
  assert.deepEqual(Object.keys(accounts[0]), ['currency', 'available', 'held', 'updated_at'])
  const second = (await ok(api.get(`/partner/settlement-accounts?limit=1&cursor=${next_cursor}`))).body
  assert.deepEqual(
    [accounts[0].currency, second.settlement_accounts[0].currency, second.next_cursor],
    ['ARS', 'BTC', null],
  )
  const nobody = await operator.post('/partners/ptr_00000000000000000000000000/top-ups', {
    currency: 'ARS',
    amount: '1',
    reference_id: 'x',
  })
  assertRefused(nobody, 404, 'not_found')
  for (const reference_id of [undefined, '', null, 'x'.repeat(201)]) {
    const refused = await operator.post(`/partners/${id}/top-ups`, { currency: 'ARS', amount: '1', reference_id })
    assert.match(assertRefused(refused, 400, 'invalid_parameters'), /^reference_id /)
  }
})

test('a statement adds up line by line to the balances, and says the same in both formats', async () => {
  const partner = await newOrderPartner(service, { funds: '5000.00' })
  const { api } = partner
  await orderIn(service, partner, 'awaiting_confirmation')
  await orderIn(service, partner, 'cancelled')
  const [pending, given, paid] = [
    await orderIn(service, partner, 'pending', '100.5'),
    await orderIn(service, partner, 'processing', '200.02'),
    await orderIn(service, partner, 'completed', '300'),
  ]
  await ok(operator.post(`/orders/${given.id}/fail`))
  await ok(operator.post(`/orders/${pending.id}/cancel`))
  const { body: back } = await ok(operator.post(`/orders/${paid.id}/return`))
  const held = await orderIn(service, partner, 'processing', '400.00')
  await topUp(service, partner.id, '0.01')

  const entries = await readStatement(api, 'ARS', 'limit=3')
  const funds = entries[0]!.order_id
  const { fee_amount, destination_amount } = paid.withdrawal
  assert.equal(add(fee_amount, destination_amount), '300.0')
  assert.deepEqual(
    entries.slice(0, -1).map((each) => [each.kind, each.order_id, each.available_change, each.held_change]),
    [
      ['top_up', funds, '5000.00', '0.00'],
      ['hold', pending.id, '-100.50', '100.50'],
      ['hold', given.id, '-200.02', '200.02'],
      ['hold', paid.id, '-300.00', '300.00'],
      ['payout', paid.id, '0.00', '-300.00'],
      ['release', given.id, '200.02', '-200.02'],
      ['release', pending.id, '100.50', '-100.50'],
      ['return', back.id, `${destination_amount}0`, '0.00'],
      ['hold', held.id, '-400.00', '400.00'],
    ],
  )
  let sums = ['0.00', '0.00']
  for (const [i, line] of entries.entries()) {
    assert.deepEqual(Object.keys(line), columns)
    assert.equal(line.entry, i + 1)
    assert.match(line.created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    sums = [add(sums[0]!, line.available_change), add(sums[1]!, line.held_change)]
    assert.deepEqual([line.available, line.held], sums)
  }
  assert.deepEqual(await balance(api), sums)
  assert.deepEqual(await readStatement(api, 'ARS', 'limit=100'), entries)
  assert.deepEqual(await readCsv(api), entries)
  await assertReconciled(service)
})

test('pages of a statement stay in place while entries are added', async () => {
  const { id, api } = await newOrderPartner(service, { funds: '1.00' })
  for (let i = 0; i < 4; i++) await topUp(service, id, '1.00')
  const first = (await ok(api.get(`${statementOf('ARS')}?limit=2`))).body
  await topUp(service, id, '1.00')
  const second = (await ok(api.get(`${statementOf('ARS')}?limit=2&cursor=${first.next_cursor}`))).body
  const last = (await ok(api.get(`${statementOf('ARS')}?limit=2&cursor=${second.next_cursor}`))).body
  const seen = [first, second, last].flatMap((page) => page.entries.map((each: Body) => each.entry))
  assert.deepEqual([seen, last.next_cursor], [[5, 4, 3, 2, 1], null])
})

test('a time span holds what happened from its beginning and before its end, in both formats', async () => {
  const { id, api } = await newOrderPartner(service, { funds: '1.00' })
  for (let i = 0; i < 2; i++) {
    await sleep(1_050) // so that each is in a second of its own
    await topUp(service, id, '1.00')
  }
  const at = (await readStatement(api)).map((each) => each.created_at)
  for (const [query, entries] of [
    [`created_from=${at[1]}`, [2, 3]],
    [`created_to=${at[1]}`, [1]],
    [`created_from=${at[1]}&created_to=${at[2]}`, [2]],
    [`created_from=2999-01-01T00:00:00Z`, []],
    [`created_to=${encodeURIComponent('2001-01-01T00:00:00+03:00')}`, []],
  ] as const) {
    assert.deepEqual(
      (await readStatement(api, 'ARS', query)).map((each) => each.entry),
      entries,
      query,
    )
    assert.deepEqual(
      (await readCsv(api, 'ARS', `&${query}`)).map((each) => each.entry),
      entries,
      query,
    )
  }
})

test('an account that does not exist is 404, and what cannot be asked for is refused', async () => {
  const { api } = await newOrderPartner(service)
  const other = await newOrderPartner(service, { funds: '0' })
  for (const [client, currency] of [
    [api, 'USD'],
    [api, 'ars'],
    [api, 'XXX'],
    [other.api, 'ARS'],
  ] as const) {
    assertRefused(await client.get(statementOf(currency)), 404, 'not_found')
    assertRefused(await client.get(`${statementOf(currency)}?format=csv`), 404, 'not_found')
  }
  for (const [query, place] of [
    ['format=pdf', 'format'],
    ['created_from=now', 'created_from'],
    ['created_to=now', 'created_to'],
    ['limit=1000', 'limit'],
    [`cursor=${Buffer.from('1:ord_x').toString('base64url')}`, 'cursor'],
    ['kind=hold', 'kind'],
  ] as const)
    assert.ok(
      assertRefused(await api.get(`${statementOf('ARS')}?${query}`), 400, 'invalid_parameters').startsWith(`${place} `),
    )
})
