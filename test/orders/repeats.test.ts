// Nothing happens twice: a reference is used once, also of twenty at once; an Idempotency-Key replays the first reply and refuses
// another request; races between opposite decisions have one winner.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { ApiReply, Body } from '../support/client.ts'
import { assertRefused, ok, orderIn } from '../support/order-states.ts'
import { assertReconciled, balance, createOrder, newOrderPartner, showOrder, withdrawal } from '../support/orders.ts'
import { startTestService } from '../support/service.ts'

const service = await startTestService({ after }, { environment: { PAYOUT_RAIL: 'operator' } })
const { operator } = service
const twenty = <T>(work: (i: number) => Promise<T>) => Promise.all(Array.from({ length: 20 }, (_, i) => work(i)))
const tally = (replies: readonly ApiReply[]) => replies.map((reply) => reply.status).sort()

test('a reference is used by one order, also when twenty come at once; another partner may use it too', async () => {
  const [partner, other] = [await newOrderPartner(service), await newOrderPartner(service)]
  const send = ({ api, instructionId }: typeof partner, more: object = {}) =>
    api.post('/partner/orders', withdrawal(instructionId, '1000.00', { reference_id: 'payroll-1', ...more }))
  const replies = await twenty(() => send(partner))
  assert.deepEqual(tally(replies), [201, ...Array(19).fill(409)])
  for (const reply of replies.filter((each) => each.status === 409))
    assert.match(assertRefused(reply, 409, 'conflict'), /^reference_id /)
  assert.equal((await partner.api.get('/partner/orders?reference_id=payroll-1')).body.orders.length, 1)
  await ok(send(other))
  const { id } = replies.find((each) => each.status === 201)!.body
  await ok(partner.api.post(`/partner/orders/${id}/cancel`))
  assertRefused(await send(partner), 409, 'conflict') // used up, whatever became of it
  for (const reference_id of ['', 'x'.repeat(201), 7])
    assert.match(assertRefused(await send(partner, { reference_id }), 400, 'invalid_parameters'), /^reference_id /)
  for (const more of [{ reference_id: null }, { reference_id: undefined }, { reference_id: null }])
    assert.equal((await ok(send(partner, more))).body.reference_id, null)
})

test('a top-up is credited once for a reference, also when twenty come at once', async () => {
  const { id, api } = await newOrderPartner(service, { funds: '0' })
  const given = { currency: 'ARS', amount: '12.34', reference_id: 'wire-1' }
  const replies = await twenty((i) =>
    i % 2 ? api.post('/sandbox/top-ups', given) : operator.post(`/partners/${id}/top-ups`, given),
  )
  assert.deepEqual(tally(replies), [201, ...Array(19).fill(409)])
  assert.deepEqual(await balance(api), ['12.34', '0.00'])
})

// Each with its own way to send a different request under the same key.
interface Repeatable {
  readonly send: (headers: Record<string, string>) => Promise<ApiReply>
  readonly other: (headers: Record<string, string>) => Promise<ApiReply>
}
const repeatable: Record<string, () => Promise<Repeatable>> = {
  'creating an order': async () => {
    const { api, instructionId } = await newOrderPartner(service)
    const send = (amount: string) => (headers: Record<string, string>) =>
      api.post('/partner/orders', withdrawal(instructionId, amount), { headers })
    return { send: send('1000.00'), other: send('1000.0') }
  },
  'confirming an order': () => onOrder('awaiting_confirmation', 'confirm'),
  'cancelling an order': () => onOrder('awaiting_confirmation', 'cancel'),
  'taking an order': () => byOperator('pending', 'take'),
  'releasing an order': () => byOperator('processing', 'release'),
  'cancelling an order as operator': () => byOperator('pending', 'cancel'),
  'returning an order': () => byOperator('completed', 'return'),
  'a top-up': async () => {
    const { id } = await newOrderPartner(service)
    const send = (amount: string) => (headers: Record<string, string>) =>
      operator.post(`/partners/${id}/top-ups`, { currency: 'ARS', amount, reference_id: amount }, { headers })
    return { send: send('1.00'), other: send('2.00') }
  },
  'a sandbox top-up': async () => {
    const { api } = await newOrderPartner(service)
    const send = (amount: string) => (headers: Record<string, string>) =>
      api.post('/sandbox/top-ups', { currency: 'ARS', amount }, { headers })
    return { send: send('1.00'), other: send('2.00') }
  },
}

async function onOrder(state: 'awaiting_confirmation', name: string): Promise<Repeatable> {
  const partner = await newOrderPartner(service)
  const [one, two] = [await orderIn(service, partner, state), await orderIn(service, partner, state)]
  const send = (id: string) => (headers: Record<string, string>) =>
    partner.api.post(`/partner/orders/${id}/${name}`, undefined, { headers })
  return { send: send(one.id), other: send(two.id) }
}

async function byOperator(state: 'pending' | 'processing' | 'completed', name: string): Promise<Repeatable> {
  const partner = await newOrderPartner(service)
  const [one, two] = [await orderIn(service, partner, state), await orderIn(service, partner, state)]
  const send = (id: string) => (headers: Record<string, string>) =>
    operator.post(`/orders/${id}/${name}`, undefined, { headers })
  return { send: send(one.id), other: send(two.id) }
}

for (const [name, prepare] of Object.entries(repeatable)) {
  test(`${name} with an Idempotency-Key happens once, and is answered the same each time`, async () => {
    const { send, other } = await prepare()
    const headers = { 'idempotency-key': `once: ${name}`.replaceAll(' ', '-') }
    const replies = await Promise.all(Array.from({ length: 5 }, () => send(headers)))
    assert.deepEqual([...new Set(replies.map((reply) => reply.text))], [replies[0]!.text])
    assert.ok(
      replies.every((reply) => reply.status === replies[0]!.status && reply.status < 300),
      replies[0]!.text,
    )
    assert.equal(replies.filter((reply) => reply.headers.get('idempotent-replayed') === 'true').length, 4)
    assertRefused(await other(headers), 409, 'conflict')
    await ok(other({ 'idempotency-key': `another: ${name}`.replaceAll(' ', '-') }))
  })
}

test('a refusal is not remembered: the same key succeeds once there are funds', async () => {
  const partner = await newOrderPartner(service, { funds: '0' })
  const { id } = await createOrder(partner)
  const confirm = () =>
    partner.api.post(`/partner/orders/${id}/confirm`, undefined, { headers: { 'idempotency-key': 'later' } })
  assertRefused(await confirm(), 400, 'insufficient_funds')
  await ok(partner.api.post('/sandbox/top-ups', { currency: 'ARS', amount: '1000.00' }))
  assert.equal((await ok(confirm())).body.state, 'pending')
})

test('completing and failing twenty times at once: one kind wins, never both', async () => {
  const partner = await newOrderPartner(service)
  for (let round = 0; round < 5; round++) {
    const [available, held] = await balance(partner.api)
    const { id } = await orderIn(service, partner, 'processing', '100.00')
    const replies = await twenty((i) => operator.post(`/orders/${id}/${(i + round) % 2 ? 'complete' : 'fail'}`))
    const order = await showOrder(partner.api, id)
    const won = order.state === 'completed' ? 'complete' : 'fail'
    for (const [i, reply] of replies.entries()) {
      if (((i + round) % 2 ? 'complete' : 'fail') === won) assert.equal(reply.status, 200, reply.text)
      else assertRefused(reply, 400, 'invalid_order_state')
    }
    const spent = won === 'complete' ? 100 : 0
    assert.deepEqual((await balance(partner.api)).map(Number), [Number(available) - spent, Number(held)])
    assert.equal(order.state_reason, won === 'complete' ? null : 'payout_failed')
  }
  await assertReconciled(service)
})

test('taking and cancelling twenty times at once: it is taken or cancelled, never both', async () => {
  const partner = await newOrderPartner(service)
  for (let round = 0; round < 5; round++) {
    const { id } = await orderIn(service, partner, 'pending', '100.00')
    const replies = await twenty((i) => operator.post(`/orders/${id}/${(i + round) % 2 ? 'take' : 'cancel'}`))
    const { state, payout_id } = (await ok(operator.get(`/orders/${id}`))).body
    const done = replies.flatMap((reply, i) => (reply.status === 200 ? [(i + round) % 2 ? 'take' : 'cancel'] : []))
    assert.equal(new Set(done).size, 1)
    if (state === 'processing') assert.deepEqual([done.length, typeof payout_id], [10, 'string'])
    else assert.deepEqual([done, state, payout_id], [['cancel'], 'cancelled', null])
    if (state === 'processing') await ok(operator.post(`/orders/${id}/fail`))
  }
  assert.deepEqual(await balance(partner.api), ['1000000.00', '0.00'])
  await assertReconciled(service)
})

test('confirming and cancelling twenty times at once: one of them, once', async () => {
  const partner = await newOrderPartner(service)
  for (let round = 0; round < 5; round++) {
    const { id } = await createOrder(partner, '100.00')
    const replies = await twenty((i) =>
      partner.api.post(`/partner/orders/${id}/${(i + round) % 2 ? 'confirm' : 'cancel'}`),
    )
    assert.deepEqual(tally(replies), [200, ...Array(19).fill(400)])
    const { state } = await showOrder(partner.api, id)
    assert.equal(replies.find((reply) => reply.status === 200)!.body.state, state)
    if (state === 'pending') await ok(operator.post(`/orders/${id}/cancel`))
  }
  assert.deepEqual(await balance(partner.api), ['1000000.00', '0.00'])
})

test('twenty takers at once get one payout: one takes it, the others are told who', async () => {
  const partner = await newOrderPartner(service)
  const { id } = await orderIn(service, partner, 'pending')
  const secrets: string[] = []
  for (let i = 0; i < 4; i++)
    secrets.push((await ok(operator.post('/tokens', { name: `Taker ${i}`, roles: ['payouts'] }))).body.secret)
  const replies = await twenty((i) => operator.post(`/orders/${id}/take`, undefined, { token: secrets[i % 4]! }))
  const taken = replies.filter((reply) => reply.status === 200).map((reply): Body => reply.body)
  assert.equal(taken.length, 5) // one taker, heard five times
  assert.equal(new Set(taken.map((each) => `${each.taken_by} ${each.payout_id}`)).size, 1)
  for (const reply of replies.filter((each) => each.status !== 200))
    assert.match(assertRefused(reply, 400, 'invalid_order_state'), /taken by operator Taker \d/)
})
