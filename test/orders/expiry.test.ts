// Expiry: an order cannot be confirmed once its time is over, whether or not the job has run; the job cancels it, tells of it, and
// does so also when nobody was running at that time. About 15 s, most of it waiting for a window of one second.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Body } from '../support/client.ts'
import { eventually, startEndpoint } from '../support/endpoint.ts'
import { assertRefused, ok } from '../support/order-states.ts'
import { assertReconciled, balance, createOrder, newOrderPartner, showOrder, untilOrder } from '../support/orders.ts'
import { subscribe } from '../support/partner.ts'
import { startRestartable } from '../support/restarts.ts'

// A process that only answers requests has no jobs: what it refuses, it refuses by the clock.
const withoutJobs = { ROLE: 'api', ORDER_CONFIRMATION_WINDOW: '1s', PAYOUT_RAIL: 'operator' }
const withJobs = { ...withoutJobs, ROLE: 'all' }
const { service, start, stop } = await startRestartable({ after }, withoutJobs)
const partner = await newOrderPartner(service)
const { api } = partner
const endpoint = await startEndpoint({ after })
await subscribe(api, endpoint.url, { events: ['partner-order-closed'] })

// The times that are shown have lost their fraction of a second.
const past = (order: Body) => sleep(Math.max(0, Date.parse(order.expires_at) + 1_100 - Date.now()))

// On a slow machine a second may be too short; then another.
async function confirmedInTime(): Promise<Body> {
  for (;;) {
    const { id } = await createOrder(partner)
    const { status, body } = await api.post(`/partner/orders/${id}/confirm`)
    if (status === 200) return body
  }
}

async function toldOf(id: string): Promise<Body> {
  const told = () => endpoint.received.map(({ event }) => event.partner_order).find((order) => order.id === id)
  await eventually(() => told() !== undefined, `the endpoint to be told of ${id}`)
  return told()
}

test('past its time an order is refused before the job has run, and expires when it runs, after a restart', async () => {
  const confirmed = await confirmedInTime()
  const [late, cancelled] = [await createOrder(partner), await createOrder(partner)]
  assert.equal(Date.parse(late.expires_at) - Date.parse(late.created_at), 1_000)
  await past(cancelled)
  const sentence = assertRefused(await api.post(`/partner/orders/${late.id}/confirm`), 400, 'invalid_order_state')
  assert.equal(sentence, 'The order cannot be confirmed: its time to confirm is over.')
  assert.deepEqual(await showOrder(api, late.id), late)
  await ok(api.post(`/partner/orders/${cancelled.id}/cancel`))
  await stop()

  await start(withJobs)
  const expired = await untilOrder(api, late.id, 'cancelled')
  assert.equal(expired.state_reason, 'expired')
  assert.equal(expired.closed_at, expired.last_updated_at)
  assert.deepEqual(
    { ...late, state: 'cancelled', state_reason: 'expired', closed_at: null, last_updated_at: null },
    { ...expired, closed_at: null, last_updated_at: null },
  )
  assert.deepEqual(await toldOf(late.id), expired)
  assert.equal((await toldOf(cancelled.id)).state_reason, 'cancelled_by_partner')
  const refused = assertRefused(await api.post(`/partner/orders/${late.id}/confirm`), 400, 'invalid_order_state')
  assert.equal(refused, 'The order cannot be confirmed: it is cancelled (expired).')
  assert.equal((await showOrder(api, confirmed.id)).state, 'pending', 'what was confirmed does not expire')
})

test('an order whose time ends while nobody runs has expired soon after the next start', async () => {
  await stop()
  await start(withoutJobs)
  const order = await createOrder(partner)
  await stop()
  await past(order)
  await start(withJobs)
  assert.equal((await untilOrder(api, order.id, 'cancelled')).state_reason, 'expired')
})

test('confirmations race against the job: each order is held or expired, never both, and is told of once', async () => {
  const [available, held] = await balance(api)
  const orders: Body[] = []
  for (let i = 0; i < 20; i++) orders.push(await createOrder(partner, '100.00'))
  const outcomes = await Promise.all(
    orders.map(async ({ id, expires_at }, i) => {
      await sleep(Math.max(0, Date.parse(expires_at) + i * 50 - Date.now()))
      return (await api.post(`/partner/orders/${id}/confirm`)).status
    }),
  )
  const confirmed = outcomes.filter((status) => status === 200).length
  for (const [i, { id }] of orders.entries()) {
    if (outcomes[i] === 200) assert.equal((await showOrder(api, id)).state, 'pending')
    else assert.equal((await untilOrder(api, id, 'cancelled')).state_reason, 'expired')
  }
  assert.deepEqual((await balance(api)).map(Number), [
    Number(available) - 100 * confirmed,
    Number(held) + 100 * confirmed,
  ])
  const expired = orders.filter((_, i) => outcomes[i] !== 200).map(({ id }) => id)
  const told = () =>
    endpoint.received.map(({ event }) => event.partner_order.id).filter((id) => orders.some((each) => each.id === id))
  await eventually(() => told().length >= expired.length, 'all to be told of')
  assert.deepEqual(told().sort(), expired.sort())
  await assertReconciled(service)
})
