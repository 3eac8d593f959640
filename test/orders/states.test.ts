// The state table: every trigger in every state does what `transitions` says, with its money and its one event; everything else
// is 400 invalid_order_state and leaves the order, the account and the events alone. About 90 orders.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { add } from '../../src/money.ts'
import { type EntryKind, type Trigger, transitionFrom, transitions } from '../../src/orders/states.ts'
import type { ApiReply, Body } from '../support/client.ts'
import { startEndpoint } from '../support/endpoint.ts'
import { assertRefused, ok, orderIn } from '../support/order-states.ts'
import { assertReconciled, balance, createOrder, newOrderPartner, showOrder, topUp } from '../support/orders.ts'
import { subscribe } from '../support/partner.ts'
import { startTestService } from '../support/service.ts'

const service = await startTestService({ after }, { environment: { PAYOUT_RAIL: 'operator' } })
const { operator } = service
const partner = await newOrderPartner(service, { withdrawal_fees: [] })
const { api } = partner
const endpoint = await startEndpoint({ after })
await subscribe(api, endpoint.url, {
  events: ['partner-order-created', 'partner-order-updated', 'partner-order-closed'],
})

const state = (name: Parameters<typeof orderIn>[2]) => () => orderIn(service, partner, name)
const situations: Record<string, () => Promise<Body>> = {
  'waits for confirmation': state('awaiting_confirmation'),
  'is pending': state('pending'),
  'is processing': state('processing'),
  'is completed': state('completed'),
  'was cancelled by its partner': state('cancelled'),
  'was cancelled by the operator': async () => {
    const { id } = await orderIn(service, partner, 'pending')
    await ok(operator.post(`/orders/${id}/cancel`))
    return showOrder(api, id)
  },
  failed: async () => {
    const { id } = await orderIn(service, partner, 'processing')
    await ok(operator.post(`/orders/${id}/fail`))
    return showOrder(api, id)
  },
  'was completed and returned': async () => {
    const { id } = await orderIn(service, partner, 'completed')
    await ok(operator.post(`/orders/${id}/return`))
    return showOrder(api, id)
  },
  'is a top-up': () => topUp(service, partner.id, '1000.00'),
  'is a return': async () => {
    const { id } = await orderIn(service, partner, 'completed')
    return (await ok(operator.post(`/orders/${id}/return`))).body
  },
}

interface Act {
  readonly triggers: readonly Trigger[] // one after the other
  readonly done: string // as the refusal says it
  readonly call: (id: string) => Promise<ApiReply>
}
const byOperator = (name: string) => (id: string) => operator.post(`/orders/${id}/${name}`)
const byPartner = (name: string) => (id: string) => api.post(`${name.replace(':', `/orders/`).replace('ID', id)}`)
const acts: Record<string, Act> = {
  'the partner confirms': { triggers: ['confirm'], done: 'confirmed', call: byPartner('/partner:ID/confirm') },
  'the partner cancels': { triggers: ['cancel'], done: 'cancelled', call: byPartner('/partner:ID/cancel') },
  'the operator takes': { triggers: ['take'], done: 'taken', call: byOperator('take') },
  'the operator completes': { triggers: ['complete'], done: 'completed', call: byOperator('complete') },
  'the operator fails': { triggers: ['fail'], done: 'failed', call: byOperator('fail') },
  'the operator releases': { triggers: ['release'], done: 'released', call: byOperator('release') },
  'the operator cancels': { triggers: ['cancel_by_operator'], done: 'cancelled', call: byOperator('cancel') },
  'the sandbox completes': {
    triggers: ['take', 'complete'],
    done: 'completed',
    call: byPartner('/sandbox:ID/complete'),
  },
  'the sandbox fails': { triggers: ['take', 'fail'], done: 'failed', call: byPartner('/sandbox:ID/fail') },
}

// What may be said again, not knowing whether it was heard.
const harmless = new Set([
  'is processing, the operator takes',
  ...['is completed', 'was completed and returned'].flatMap((each) => [
    `${each}, the operator completes`,
    `${each}, the sandbox completes`,
  ]),
  ...['failed, the operator fails', 'failed, the sandbox fails'],
])

const moved: Record<EntryKind, [available: string, held: string]> = {
  hold: ['-1000.00', '1000.00'],
  release: ['1000.00', '-1000.00'],
  payout: ['0.00', '-1000.00'],
  top_up: ['1000.00', '0.00'],
  return: ['1000.00', '0.00'],
}

async function eventsOf(id: string): Promise<Body[]> {
  const { events } = (await ok(api.get(`/webhooks/events?resource_id=${id}&limit=100`))).body
  return events
}

for (const [situation, prepare] of Object.entries(situations)) {
  test(`what can happen to an order that ${situation}`, async () => {
    for (const [name, { triggers, done, call }] of Object.entries(acts)) {
      const cell = `${situation}, ${name}`
      const order = await prepare()
      const [available, held] = await balance(api)
      const eventsBefore = await eventsOf(order.id)
      const steps = order.operation === 'withdrawal' ? stepsFrom(order.state, triggers) : []
      const reply = await call(order.id)
      const now = await showOrder(api, order.id)
      const events = (await eventsOf(order.id)).filter((each) => !eventsBefore.some(({ id }) => id === each.id))
      if (steps.length === 0) {
        assert.deepEqual(now, order, cell)
        assert.deepEqual(await balance(api), [available, held], cell)
        assert.deepEqual(events, [], cell)
        if (harmless.has(cell)) assert.equal(reply.status, 200, `${cell}: ${reply.text}`)
        else {
          const sentence = assertRefused(reply, 400, 'invalid_order_state')
          assert.ok(sentence.startsWith(`The order cannot be ${done}: it is `), `${cell}: ${sentence}`)
        }
        continue
      }
      const last = steps.at(-1)!
      assert.equal(reply.status, 200, `${cell}: ${reply.text}`)
      for (const [key, value] of Object.entries(now)) assert.deepEqual(reply.body[key], value, `${cell}: ${key}`)
      const { state, state_reason, processed_at, last_updated_at, closed_at } = now
      assert.deepEqual([state, state_reason], [last.to, last.reason], cell)
      assert.equal(processed_at === null, order.processed_at === null && triggers[0] !== 'confirm', cell)
      assert.equal(closed_at, last.event === 'partner-order-closed' ? last_updated_at : null, cell)
      const unchanged = { state, state_reason, processed_at, last_updated_at, closed_at }
      assert.deepEqual({ ...order, ...unchanged }, now, `${cell}: nothing else changes`)
      let expected = [available, held]
      for (const { entry } of steps) if (entry) expected = expected.map((each, i) => add(each, moved[entry][i]!))
      assert.deepEqual(await balance(api), expected, cell)
      // Those of one transaction have one time, so their order is left open.
      const told = (each: readonly string[]) => each.toSorted()
      assert.deepEqual(told(events.map((each) => each.action)), told(steps.map((each) => each.event)), cell)
      const telling = events.find((each) => each.action === last.event)!
      const { payload } = (await ok(api.get(`/webhooks/events/${telling.id}`))).body
      assert.deepEqual(payload.partner_order, now, cell)
    }
  })
}

const walked = new Set<unknown>()
function stepsFrom(from: string, triggers: readonly Trigger[]) {
  const steps = []
  let state = from as (typeof transitions)[number]['from']
  for (const trigger of triggers) {
    const step = transitionFrom(state, trigger)
    if (!step) continue
    walked.add(step)
    steps.push(step)
    state = step.to
  }
  return steps.at(-1)?.trigger === triggers.at(-1) ? steps : []
}

test('every line of the table was walked above, but for the one that time walks', () => {
  assert.deepEqual(
    transitions.filter((each) => !walked.has(each)).map((each) => each.trigger),
    ['expire'],
  )
})

test('a payout keeps its id over release and take, whoever takes it; nobody takes what another has', async () => {
  const token = async (name: string) => (await ok(operator.post('/tokens', { name, roles: ['payouts'] }))).body.secret
  const [ada, alan] = [await token('Ada'), await token('Alan')]
  const { id } = await orderIn(service, partner, 'pending')
  const take = (secret: string) => operator.post(`/orders/${id}/take`, undefined, { token: secret })
  const first = (await ok(take(ada))).body
  assert.match(first.payout_id, /^pay_[0-9a-z]{26}$/)
  assert.match(first.taken_by, /^operator Ada \(opt_/)
  assert.deepEqual((await ok(take(ada))).body, first)
  assert.match(assertRefused(await take(alan), 400, 'invalid_order_state'), /it is processing \(taken by operator Ada/)
  const released = (await ok(operator.post(`/orders/${id}/release`))).body
  assert.deepEqual([released.state, released.payout_id], ['pending', first.payout_id])
  const second = (await ok(take(alan))).body
  assert.equal(second.payout_id, first.payout_id)
  assert.match(second.taken_by, /^operator Alan /)
  assertRefused(await take(ada), 400, 'invalid_order_state')
  assert.equal((await ok(operator.post(`/orders/${id}/complete`))).body.payout_id, first.payout_id)
})

test('before its confirmation an order holds, posts and offers nothing; a confirmation without funds changes nothing', async () => {
  const poor = await newOrderPartner(service, { funds: '999.99', withdrawal_fees: [] })
  const order = await createOrder(poor, '1000.00')
  const offered = async () => (await ok(operator.get(`/orders?state=pending&partner_id=${poor.id}`))).body.orders
  const statement = async () =>
    (await ok(poor.api.get('/partner/settlement-accounts/ARS/statement'))).body.entries.length
  const untouched = async () => {
    assert.deepEqual(await balance(poor.api), ['999.99', '0.00'])
    assert.deepEqual([await offered(), await statement()], [[], 1])
    assert.deepEqual(await showOrder(poor.api, order.id), order)
  }
  await untouched()
  const refused = await poor.api.post(`/partner/orders/${order.id}/confirm`)
  assert.match(assertRefused(refused, 400, 'insufficient_funds'), /1000\.00 ARS/)
  await untouched()
  await topUp(service, poor.id, '0.01')
  await ok(poor.api.post(`/partner/orders/${order.id}/confirm`))
  assert.deepEqual([(await offered()).length, await statement()], [1, 3])
  assert.deepEqual(await balance(poor.api), ['0.00', '1000.00'])

  const { api, instructionId, id } = await newOrderPartner(service, { funds: '0' })
  const never = await createOrder({ api, instructionId, id })
  assertRefused(await api.post(`/partner/orders/${never.id}/confirm`), 400, 'insufficient_funds')
  assert.deepEqual((await ok(api.get('/partner/settlement-accounts'))).body.settlement_accounts, [])
})

test('after all of this everything reconciles', async () => {
  const { checked } = await assertReconciled(service)
  assert.ok(checked.orders > 80 && checked.postings > 150)
})
