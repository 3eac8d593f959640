// Orders brought into each of their states through the API, for services whose payout rail is the operator.
import assert from 'node:assert/strict'
import type { OrderState } from '../../src/orders/states.ts'
import type { ApiReply, Body } from './client.ts'
import { createOrder, type OrderPartner } from './orders.ts'
import type { TestService } from './service.ts'

type Operated = Pick<TestService, 'operator'>

// A cancelled one was cancelled by its partner.
export async function orderIn(
  { operator }: Operated,
  partner: OrderPartner,
  state: OrderState,
  amount?: string,
): Promise<Body> {
  const { id } = await createOrder(partner, amount)
  if (state === 'cancelled') await ok(partner.api.post(`/partner/orders/${id}/cancel`))
  if (state === 'awaiting_confirmation' || state === 'cancelled') return shownTo(partner, id, state)
  await ok(partner.api.post(`/partner/orders/${id}/confirm`))
  if (state !== 'pending') await ok(operator.post(`/orders/${id}/take`))
  if (state === 'completed') await ok(operator.post(`/orders/${id}/complete`))
  return shownTo(partner, id, state)
}

async function shownTo({ api }: OrderPartner, id: string, state: OrderState): Promise<Body> {
  const { body } = await ok(api.get(`/partner/orders/${id}`))
  assert.equal(body.state, state)
  return body
}

export async function ok(reply: Promise<ApiReply>): Promise<ApiReply> {
  const got = await reply
  assert.ok(got.status < 300, `${got.status} ${got.text}`)
  return got
}

// A refusal: exactly {error_code, error_msg}; returns the sentence.
export function assertRefused(reply: ApiReply, status: number, code: string): string {
  assert.deepEqual([reply.status, reply.body?.error_code], [status, code], reply.text)
  assert.deepEqual(Object.keys(reply.body), ['error_code', 'error_msg'])
  assert.equal(typeof reply.body.error_msg, 'string')
  return reply.body.error_msg
}
