// The operator's rail: the whole story of a payout as the platform's core lives it, every act with its author in the audit log;
// a bank's return credits once; a payout that takes too long raises one alert and shows in the metrics. About 10 s, for its
// restarts.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Db } from '../../src/db/db.ts'
import type { Body } from '../support/client.ts'
import { eventually, startEndpoint } from '../support/endpoint.ts'
import { assertRefused, ok, orderIn } from '../support/order-states.ts'
import { assertReconciled, balance, cbuFields, createOrder, newOrderPartner, showOrder } from '../support/orders.ts'
import { as } from '../support/partner.ts'
import { startRestartable } from '../support/restarts.ts'

const hook = await startEndpoint({ after })
const environment = { PAYOUT_RAIL: 'operator', OPERATIONS_WEBHOOK_URL: hook.url }
const { service, meanwhile } = await startRestartable({ after }, environment)
const { operator } = service

async function operatorNamed(name: string, roles: string[]) {
  const { id, secret } = (await ok(operator.post('/tokens', { name, roles }))).body
  return { id, name, client: as(operator, secret) }
}

test('an order is listed, taken, given back, taken again and paid; the log names who did each', async () => {
  const partner = await newOrderPartner(service)
  const [core, ada] = [await operatorNamed('core', ['payouts']), await operatorNamed('ada', ['support'])]
  const order = await createOrder(partner, '1000.00')
  const waiting = async (): Promise<string[]> =>
    (await ok(core.client.get(`/orders?state=pending&partner_id=${partner.id}`))).body.orders.map(
      (each: Body) => each.id,
    )
  assert.deepEqual(await waiting(), [])
  await ok(partner.api.post(`/partner/orders/${order.id}/confirm`))
  assert.deepEqual(await waiting(), [order.id])
  const taken = (await ok(core.client.post(`/orders/${order.id}/take`))).body
  assert.deepEqual(taken.destination, { type: 'ar_cbu', currency: 'ARS', fields: cbuFields })
  assert.deepEqual([taken.partner_id, taken.taken_by], [partner.id, `operator core (${core.id})`])
  assert.match(taken.taken_at, /\+00:00$/)
  assert.deepEqual(await waiting(), [])
  assertRefused(await ada.client.post(`/orders/${order.id}/release`), 403, 'forbidden')
  assertRefused(await ada.client.post(`/orders/${order.id}/cancel`), 400, 'invalid_order_state') // it may have been paid
  await ok(core.client.post(`/orders/${order.id}/release`))
  assert.deepEqual(await waiting(), [order.id])
  await ok(core.client.post(`/orders/${order.id}/take`))
  await ok(core.client.post(`/orders/${order.id}/take`)) // says it again, not knowing whether it was heard
  const paid = (await ok(core.client.post(`/orders/${order.id}/complete`))).body
  await ok(core.client.post(`/orders/${order.id}/complete`))
  assert.deepEqual([paid.state, paid.payout_id], ['completed', taken.payout_id])
  assert.deepEqual(await balance(partner.api), ['999000.00', '0.00'])

  const other = await orderIn(service, partner, 'pending')
  await ok(ada.client.post(`/orders/${other.id}/cancel`))
  const cancelled = await showOrder(partner.api, other.id)
  assert.deepEqual([cancelled.state, cancelled.state_reason], ['cancelled', 'cancelled_by_operator'])
  const failed = await orderIn(service, partner, 'processing')
  await ok(core.client.post(`/orders/${failed.id}/fail`))
  await ok(core.client.post(`/orders/${failed.id}/fail`))

  const { entries } = (await ok(operator.get(`/audit-log?partner_id=${partner.id}&limit=100`))).body
  const logOf = (id: string) =>
    entries
      .filter((each: Body) => each.target_id === id)
      .map((each: Body) => `${each.action} ${each.actor.name}`)
      .sort()
  assert.deepEqual(logOf(order.id), [
    ...['order.completed core', 'order.confirmed test', 'order.created test', 'order.released core'],
    ...['order.taken core', 'order.taken core'],
  ])
  assert.deepEqual(logOf(other.id), ['order.cancelled ada', 'order.confirmed test', 'order.created test'])
  assert.deepEqual(logOf(failed.id).slice(2), ['order.failed core', 'order.taken bootstrap'])
  const topped = entries.find((each: Body) => each.action === 'order.topped_up')
  assert.deepEqual([topped.actor.name, topped.details], ['bootstrap', { currency: 'ARS', amount: '1000000.00' }])
  assert.ok(
    entries.some((each: Body) => each.action === 'instruction.created' && each.target_id === partner.instructionId),
  )
  await assertReconciled(service)
})

test('a bank’s return after completion credits what had been paid, once, however often and however many at once say so', async () => {
  const partner = await newOrderPartner(service)
  const paid = await orderIn(service, partner, 'completed', '1000.00')
  const replies = await Promise.all(Array.from({ length: 20 }, () => operator.post(`/orders/${paid.id}/return`)))
  replies.push(await operator.post(`/orders/${paid.id}/return`))
  assert.deepEqual([...new Set(replies.map((reply) => `${reply.status} ${reply.text}`))], [`201 ${replies[0]!.text}`])
  const credit = replies[0]!.body
  const { currency, destination_amount: amount } = paid.withdrawal
  const { id, created_at, ...rest } = credit
  assert.deepEqual(rest, {
    ...{ state: 'completed', reference_id: null, operation: 'withdrawal_return', processed_at: created_at },
    ...{ last_updated_at: created_at, settlement: { currency, amount, operation: 'credit' } },
    withdrawal_return: { currency, amount, order_id: paid.id },
    ...{ state_reason: null, expires_at: null, closed_at: created_at },
  })
  assert.deepEqual(await showOrder(partner.api, paid.id), paid, 'the withdrawal itself stays completed')
  assert.deepEqual((await partner.api.get('/partner/orders?operation=withdrawal_return')).body.orders, [credit])
  assert.deepEqual(await balance(partner.api), ['999945.00', '0.00'])
  const { entries } = (await ok(operator.get(`/audit-log?partner_id=${partner.id}&limit=100`))).body
  const noted = entries.filter((each: Body) => each.action === 'order.returned')
  assert.deepEqual(
    noted.map((each: Body) => [each.target_id, each.details]),
    [[paid.id, { credit: id }]],
  )

  for (const state of ['awaiting_confirmation', 'pending', 'processing', 'cancelled'] as const) {
    const order = await orderIn(service, partner, state)
    const sentence = assertRefused(await operator.post(`/orders/${order.id}/return`), 400, 'invalid_order_state')
    assert.ok(sentence.startsWith(`The order cannot be returned: it is ${state}`), sentence)
  }
  const again = assertRefused(await operator.post(`/orders/${id}/return`), 400, 'invalid_order_state')
  assert.equal(again, 'The order cannot be returned: it is a withdrawal_return.')
  assertRefused(await operator.post('/orders/ord_00000000000000000000000000/return'), 404, 'not_found')
  await assertReconciled(service)
})

test('an order that was taken more than an hour ago raises one alert, and one more when it is taken again', async () => {
  const partner = await newOrderPartner(service)
  const [old, young] = [await orderIn(service, partner, 'processing'), await orderIn(service, partner, 'processing')]
  const back = (id: string, minutes: number) => (db: Db) =>
    db.query(`update orders set taken_at = now() - ${minutes} * interval '1 minute' where id = $1`, [id])
  const raised = async (db: Db) => {
    const sql = `select resource_id as id, count(*)::int as alerts from events where action = 'payout-overdue' group by 1`
    const { rows } = await db.query<{ id: string; alerts: number }>(sql)
    return Object.fromEntries(rows.map(({ id, alerts }) => [id, alerts]))
  }
  const alerts = (id: string) =>
    hook.received
      .map(({ event }) => event)
      .filter(({ action, order }) => action === 'payout-overdue' && order.id === id)
  const metric = async () =>
    /^orders_overdue (\d+)$/m.exec(await (await fetch(`${service.operatorUrl}/metrics`)).text())?.[1]

  await meanwhile((db) => Promise.all([back(young.id, 59)(db), back(old.id, 61)(db)]))
  await eventually(() => alerts(old.id).length >= 1, 'the alert')
  const { partner_id, payout_id, taken_by } = (await ok(operator.get(`/orders/${old.id}`))).body
  assert.deepEqual(Object.keys(alerts(old.id)[0]), ['id', 'action', 'created_at', 'order'])
  assert.deepEqual(alerts(old.id)[0].order, { ...old, partner_id, payout_id, taken_by })
  await eventually(async () => (await metric()) === '1', 'the metric')

  // Whoever found the second has looked at the first again.
  await meanwhile(async (db) => {
    assert.deepEqual(await raised(db), { [old.id]: 1 })
    await back(young.id, 61)(db)
  })
  await eventually(() => alerts(young.id).length >= 1, 'the alert of the other')
  await ok(operator.post(`/orders/${old.id}/release`))
  await ok(operator.post(`/orders/${old.id}/take`))
  await meanwhile(async (db) => {
    assert.deepEqual(await raised(db), { [old.id]: 1, [young.id]: 1 })
    await back(old.id, 61)(db)
  })
  await eventually(() => alerts(old.id).length >= 2, 'the alert of the second take')
  await ok(operator.post(`/orders/${old.id}/complete`))
  assert.deepEqual(await meanwhile(raised), { [old.id]: 2, [young.id]: 1 })
  await eventually(async () => (await metric()) === '1', 'the metric to forget what was paid')
})
