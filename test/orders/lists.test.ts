// Lists of orders: every filter, alone and together, and pages that stay in place while orders are being added.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Body } from '../support/client.ts'
import { assertRefused, ok, orderIn } from '../support/order-states.ts'
import { cbuFields, createOrder, newOrderPartner, topUp } from '../support/orders.ts'
import { startTestService } from '../support/service.ts'

const service = await startTestService({ after }, { environment: { PAYOUT_RAIL: 'operator' } })
const path = '/partner/orders'

test('every filter finds its orders, newest first, and none of another partner', async () => {
  const partner = await newOrderPartner(service) // its funds are a top_up order
  const { api } = partner
  const other = await newOrderPartner(service)
  await createOrder(other, '5000.00', { reference_id: 'theirs' })
  const clabe = { clabe: '032180000118359719', holder_name: 'Ada' }
  const mexico = await ok(
    api.post('/partner/outgoing-instructions', { type: 'mx_clabe', currency: 'MXN', fields: clabe }),
  )
  const made: Body[] = [(await ok(api.get(path))).body.orders[0]]
  made.push(await createOrder(partner, '1000.00', { reference_id: 'same' }))
  made.push(await topUp(service, partner.id, '5.00'))
  made.push((await ok(api.post('/sandbox/top-ups', { currency: 'MXN', amount: '70.00', reference_id: 'same' }))).body)
  const withdrawal = {
    currency: 'MXN',
    amount: '50.00',
    type: 'outgoing_instruction',
    outgoing_instruction: { instruction_id: mexico.body.id },
  }
  made.push((await ok(api.post(path, { operation: 'withdrawal', withdrawal }))).body)
  made.push(await orderIn(service, partner, 'pending'))
  made.push(await orderIn(service, partner, 'processing'))
  made.push(await orderIn(service, partner, 'cancelled'))
  const paid = await orderIn(service, partner, 'completed')
  made.push(paid, (await ok(service.operator.post(`/orders/${paid.id}/return`))).body)
  made.sort((a, b) => (a.id < b.id ? 1 : -1))

  const expect = async (query: string, want: (order: Body) => boolean, least = 1) => {
    const { orders, next_cursor } = (await ok(api.get(`${path}${query}`))).body
    assert.deepEqual(orders, made.filter(want), query)
    assert.ok(orders.length >= least, `${query} finds something`)
    assert.equal(next_cursor, null)
  }
  await expect('', () => true, 10)
  for (const state of ['awaiting_confirmation', 'pending', 'processing', 'completed', 'cancelled'])
    await expect(`?state=${state}`, (each) => each.state === state)
  for (const operation of ['withdrawal', 'top_up', 'withdrawal_return'])
    await expect(`?operation=${operation}`, (each) => each.operation === operation)
  for (const currency of ['ARS', 'MXN'])
    await expect(`?currency=${currency}`, (each) => each.settlement.currency === currency)
  await expect('?currency=USD', () => false, 0)
  await expect('?reference_id=same', (each) => each.reference_id === 'same', 2)
  for (const none of ['theirs', 'Same', 'sam', '%25', '']) await expect(`?reference_id=${none}`, () => false, 0)
  await expect(
    '?reference_id=same&operation=top_up',
    (each) => each.reference_id === 'same' && each.operation === 'top_up',
  )
  await expect(
    '?state=completed&currency=MXN&operation=top_up',
    (each) => each.settlement.currency === 'MXN' && each.operation === 'top_up',
  )
  await expect('?state=pending&currency=MXN', () => false, 0)
})

test('a time span holds what was created from its beginning and before its end', async () => {
  const partner = await newOrderPartner(service, { funds: '0' })
  const made: Body[] = []
  for (let i = 0; i < 3; i++) {
    made.unshift(await createOrder(partner))
    await sleep(1_050) // so that each is in a second of its own
  }
  const ids = async (query: string) =>
    (await ok(partner.api.get(`${path}?${query}`))).body.orders.map((each: Body) => each.id)
  const [last, middle, first] = made.map((each) => ({ id: each.id, at: Date.parse(each.created_at) }))
  const at = (ms: number) => encodeURIComponent(new Date(ms).toISOString())
  assert.deepEqual(await ids(`created_from=${at(middle!.at)}`), [last!.id, middle!.id])
  assert.deepEqual(await ids(`created_to=${at(middle!.at)}`), [first!.id])
  assert.deepEqual(await ids(`created_from=${at(middle!.at)}&created_to=${at(last!.at)}`), [middle!.id])
  assert.deepEqual(
    await ids(`created_from=${encodeURIComponent('2001-01-01T00:00:00+09:00')}`),
    made.map((each) => each.id),
  )
  assert.deepEqual(await ids(`created_from=9999-12-31T23:59:59Z`), [])
  assert.deepEqual(await ids(`created_to=0001-01-01T00:00:00Z`), [])
})

test('what cannot be asked for is refused, naming the filter', async () => {
  const { api } = await newOrderPartner(service, { funds: '0' })
  for (const [query, place] of [
    ['state=open', 'state'],
    ['operation=deposit', 'operation'],
    ['created_from=yesterday', 'created_from'],
    ['created_to=2026-02-30', 'created_to'],
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['cursor=nonsense', 'cursor'],
    ['colour=red', 'colour'],
    [`reference_id=${'x'.repeat(201)}`, 'reference_id'],
  ] as const) {
    const sentence = assertRefused(await api.get(`${path}?${query}`), 400, 'invalid_parameters')
    assert.ok(sentence.startsWith(`${place} `), sentence)
  }
})

test('pages stay in place while orders are added and change their state', async () => {
  const partner = await newOrderPartner(service, { funds: '0' })
  const made = (await Promise.all(Array.from({ length: 12 }, () => createOrder(partner))))
    .map((each) => each.id)
    .sort()
    .reverse()
  const seen: string[] = []
  let cursor = ''
  do {
    const { body } = await ok(partner.api.get(`${path}?limit=5${cursor}`))
    seen.push(...body.orders.map((each: Body) => each.id))
    await createOrder(partner)
    await ok(partner.api.post(`${path}/${body.orders[0].id}/cancel`))
    cursor = body.next_cursor === null ? '' : `&cursor=${encodeURIComponent(body.next_cursor)}`
  } while (cursor !== '')
  assert.deepEqual(seen, made)
})

test('the operator lists the orders of all partners, or of one, with where each is to be paid', async () => {
  const [one, two] = [await newOrderPartner(service), await newOrderPartner(service)]
  const orders = [await orderIn(service, one, 'pending'), await orderIn(service, two, 'pending')]
  const list = async (query: string): Promise<Body[]> =>
    (await ok(service.operator.get(`/orders?${query}&limit=100`))).body.orders
  const pending = await list('state=pending')
  for (const [i, { id: partner_id }] of [one, two].entries()) {
    const expected = {
      ...orders[i],
      ...{ partner_id, payout_id: null, taken_at: null, taken_by: null },
      destination: { type: 'ar_cbu', currency: 'ARS', fields: cbuFields },
    }
    assert.deepEqual(
      pending.find((each) => each.id === orders[i].id),
      expected,
    )
    assert.deepEqual(await list(`state=pending&partner_id=${partner_id}`), [expected])
    assert.deepEqual((await ok(service.operator.get(`/orders/${orders[i].id}`))).body, expected)
  }
  assert.ok(pending.every((each) => each.state === 'pending'))
  assert.deepEqual(
    await list(`state=completed&partner_id=${one.id}&limit=1`.replace('&limit=1', '')).then((all) =>
      all.map((each) => each.destination),
    ),
    [null],
  )
  const first = (await ok(service.operator.get('/orders?limit=1'))).body
  const second = (await ok(service.operator.get(`/orders?limit=1&cursor=${first.next_cursor}`))).body
  assert.ok(second.orders[0].id < first.orders[0].id)
  assertRefused(await service.operator.get('/orders?state=open'), 400, 'invalid_parameters')
  assertRefused(await service.operator.get('/orders/ord_00000000000000000000000000'), 404, 'not_found')
})
