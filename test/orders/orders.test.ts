// Orders through the API: the object of the specification field by field, and the way from creation to settlement.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Body } from '../support/client.ts'
import { startEndpoint } from '../support/endpoint.ts'
import {
  assertReconciled,
  balance,
  confirmedOrder,
  createOrder,
  newOrderPartner,
  showOrder,
  untilOrder,
  withdrawal,
} from '../support/orders.ts'
import { subscribe } from '../support/partner.ts'
import { startTestService } from '../support/service.ts'

const service = await startTestService({ after })
const offsetTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/
const orderEvents = ['partner-order-created', 'partner-order-updated', 'partner-order-closed']

test('an order has the fields of the specification, the same from create, details, list, confirm and webhook', async (t) => {
  const partner = await newOrderPartner(service)
  const { api, instructionId } = partner
  const endpoint = await startEndpoint(t)
  await subscribe(api, endpoint.url, { events: orderEvents })
  const created = await createOrder(partner, '1055.00', { reference_id: 'payout-2041' })
  assert.deepEqual(Object.keys(created).slice(0, 9), [
    ...['id', 'state', 'reference_id', 'operation', 'created_at', 'processed_at', 'last_updated_at'],
    ...['settlement', 'withdrawal'],
  ])
  assert.match(created.id, /^ord_[0-9a-z]{26}$/)
  for (const field of ['created_at', 'last_updated_at', 'expires_at']) assert.match(created[field], offsetTime)
  const { id, created_at, last_updated_at, expires_at, ...rest } = created
  assert.deepEqual(rest, {
    state: 'awaiting_confirmation',
    reference_id: 'payout-2041',
    operation: 'withdrawal',
    processed_at: null,
    settlement: { currency: 'ARS', amount: '1055.00', operation: 'debit' },
    withdrawal: {
      currency: 'ARS',
      amount: '1055.00',
      destination_amount: '999.72',
      fee_amount: '55.28',
      type: 'outgoing_instruction',
      outgoing_instruction: { instruction_id: instructionId },
    },
    state_reason: null,
    closed_at: null,
  })
  assert.equal(Date.parse(expires_at) - Date.parse(created_at), 15 * 60_000)
  assert.equal(last_updated_at, created_at)
  assert.deepEqual(await showOrder(api, id), created)
  assert.deepEqual(
    (await api.get('/partner/orders')).body.orders.find((each: Body) => each.id === id),
    created,
  )

  const confirmed = (await api.post(`/partner/orders/${id}/confirm`)).body
  assert.deepEqual(
    { ...confirmed, processed_at: null, last_updated_at: null },
    { ...created, state: 'pending', processed_at: null, last_updated_at: null },
  )
  assert.match(confirmed.processed_at, offsetTime)
  const closed = await untilOrder(api, id, 'completed')
  assert.match(closed.closed_at, offsetTime)
  const events = (await endpoint.until(4)).map(({ event }) => event)
  const told = (action: string, state: string) =>
    events.find((event) => event.action === action && event.partner_order.state === state)?.partner_order
  assert.deepEqual(told('partner-order-created', 'awaiting_confirmation'), created)
  assert.deepEqual(told('partner-order-updated', 'pending'), confirmed)
  assert.equal(told('partner-order-updated', 'processing').processed_at, confirmed.processed_at)
  assert.deepEqual(told('partner-order-closed', 'completed'), closed)
  assert.deepEqual(await balance(api), ['998945.00', '0.00'])
  await assertReconciled(service)
})

test('of 100 simultaneous confirmations one succeeds, and holds the amount once', async () => {
  const partner = await newOrderPartner(service)
  const { id } = await createOrder(partner, '1000.02')
  const replies = await Promise.all(
    Array.from({ length: 100 }, () => partner.api.post(`/partner/orders/${id}/confirm`)),
  )
  assert.equal(replies.filter((reply) => reply.status === 200).length, 1)
  const refused = replies.filter((reply) => reply.status !== 200)
  for (const { status, body } of refused) {
    assert.equal(status, 400)
    assert.deepEqual(Object.keys(body), ['error_code', 'error_msg'])
    assert.equal(body.error_code, 'invalid_order_state')
    assert.match(body.error_msg, /^The order cannot be confirmed: it is (pending|processing)/)
  }
  assert.deepEqual(await balance(partner.api), ['998999.98', '1000.02'])
  await assertReconciled(service)
})

test('ten orders race for funds that cover three: three are confirmed, seven refused, nothing of those changes', async () => {
  const partner = await newOrderPartner(service, { funds: '3500.00' })
  const orders = await Promise.all(Array.from({ length: 10 }, () => createOrder(partner, '1000.02')))
  const replies = await Promise.all(orders.map(({ id }) => partner.api.post(`/partner/orders/${id}/confirm`)))
  const codes = replies.map((reply) => (reply.status === 200 ? 'confirmed' : reply.body.error_code))
  assert.equal(codes.filter((code) => code === 'confirmed').length, 3)
  assert.equal(codes.filter((code) => code === 'insufficient_funds').length, 7)
  for (const [i, reply] of replies.entries()) {
    if (reply.status === 200) continue
    assert.deepEqual(await showOrder(partner.api, orders[i]!.id), orders[i])
  }
  assert.deepEqual(await balance(partner.api), ['499.94', '3000.06'])
  await assertReconciled(service)
})

test('amounts ending in .01 fail and give the funds back, in .02 stall, in .03 come back after completion', async () => {
  const partner = await newOrderPartner(service)
  const [failed, stalled, returned] = await Promise.all(
    ['100.01', '100.02', '100.03'].map((amount) => confirmedOrder(partner, amount)),
  )
  const cancelled = await untilOrder(partner.api, failed!.id, 'cancelled')
  assert.equal(cancelled.state_reason, 'payout_failed')
  await untilOrder(partner.api, returned!.id, 'completed')
  let back: Body[] = []
  while (back.length === 0) back = (await partner.api.get('/partner/orders?operation=withdrawal_return')).body.orders
  assert.deepEqual(back[0]!.withdrawal_return, {
    currency: 'ARS',
    amount: returned!.withdrawal.destination_amount,
    order_id: returned!.id,
  })
  assert.deepEqual(back[0]!.settlement.operation, 'credit')
  assert.equal((await showOrder(partner.api, stalled!.id)).state, 'processing')
  const { fee_amount } = returned!.withdrawal
  assert.equal(fee_amount, '50.51')
  assert.deepEqual(await balance(partner.api), ['999849.47', '100.02'])
  await assertReconciled(service)
})

test('the sandbox’s complete and fail go through at any moment, whatever the rail does with the order just then', async () => {
  const partner = await newOrderPartner(service)
  const orders = await Promise.all(Array.from({ length: 30 }, () => confirmedOrder(partner, '10000.02'))) // taken, never settled
  const endings = await Promise.all(
    orders.map(async ({ id }, i) => {
      await sleep(i * 10)
      return partner.api.post(`/sandbox/orders/${id}/${i % 2 ? 'complete' : 'fail'}`)
    }),
  )
  for (const [i, { status, body, text }] of endings.entries())
    assert.deepEqual([status, body.state], [200, i % 2 ? 'completed' : 'cancelled'], text)
  assert.deepEqual(await balance(partner.api), ['849999.70', '0.00'])
  await assertReconciled(service)
})

test('an order of another partner does not exist', async () => {
  const [mine, other] = [await newOrderPartner(service), await newOrderPartner(service)]
  const { id } = await createOrder(mine)
  const missing = await other.api.get('/partner/orders/ord_00000000000000000000000000')
  for (const reply of [
    await other.api.get(`/partner/orders/${id}`),
    await other.api.post(`/partner/orders/${id}/confirm`),
    await other.api.post(`/partner/orders/${id}/cancel`),
    await other.api.post(`/sandbox/orders/${id}/complete`),
    await other.api.post(`/sandbox/orders/${id}/fail`),
  ]) {
    assert.equal(reply.status, 404)
    assert.equal(reply.text, missing.text)
  }
  const used = await other.api.post('/partner/orders', withdrawal(mine.instructionId))
  assert.deepEqual([used.status, used.body.error_code], [400, 'invalid_destination'])
})
