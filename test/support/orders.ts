// What tests of orders do again and again: a partner with money and a destination, and orders of it.
import assert from 'node:assert/strict'
import { demoConfiguration } from '../../src/sandbox/demo-configuration.ts'
import type { ApiClient, Body } from './client.ts'
import { eventually } from './endpoint.ts'
import { newKey } from './partner.ts'
import type { TestService } from './service.ts'

export const validCbu = '2850590940090418135201'
export const cbuFields = { cbu: validCbu, holder_name: 'Ada Lovelace' }

type Operated = Pick<TestService, 'partner' | 'operator'>

export interface OrderPartner {
  readonly id: string
  readonly api: ApiClient
  readonly instructionId: string
}

// A partner configured like the demo partner (or with `more`), with funds and an instruction for ARS.
export async function newOrderPartner(
  service: Operated,
  { funds = '1000000.00', ...more }: { funds?: string; [key: string]: unknown } = {},
): Promise<OrderPartner> {
  const configuration = { ...demoConfiguration, ...more }
  const created = await service.operator.post('/partners', { name: 'Payer', configuration })
  assert.equal(created.status, 201, created.text)
  const id = created.body.id as string
  const { api } = await newKey(service, id, [
    'partner:read',
    'orders:read',
    'orders:write',
    'orders:confirm',
    'webhooks:read',
    'webhooks:write',
  ])
  if (funds !== '0') await topUp(service, id, funds)
  const instruction = await api.post('/partner/outgoing-instructions', {
    type: 'ar_cbu',
    currency: 'ARS',
    fields: cbuFields,
  })
  assert.equal(instruction.status, 201, instruction.text)
  return { id, api, instructionId: instruction.body.id }
}

let topUps = 0
export async function topUp(service: Operated, partnerId: string, amount: string, currency = 'ARS'): Promise<Body> {
  const reply = await service.operator.post(`/partners/${partnerId}/top-ups`, {
    currency,
    amount,
    reference_id: `in-${++topUps}`,
  })
  assert.equal(reply.status, 201, reply.text)
  return reply.body
}

export function withdrawal(instructionId: string, amount = '1000.00', more: object = {}) {
  return {
    operation: 'withdrawal',
    ...more,
    withdrawal: {
      currency: 'ARS',
      amount,
      type: 'outgoing_instruction',
      outgoing_instruction: { instruction_id: instructionId },
    },
  }
}

export async function createOrder({ api, instructionId }: OrderPartner, amount?: string, more?: object): Promise<Body> {
  const reply = await api.post('/partner/orders', withdrawal(instructionId, amount, more))
  assert.equal(reply.status, 201, reply.text)
  return reply.body
}

export async function confirmedOrder(partner: OrderPartner, amount?: string): Promise<Body> {
  const { id } = await createOrder(partner, amount)
  const reply = await partner.api.post(`/partner/orders/${id}/confirm`)
  assert.equal(reply.status, 200, reply.text)
  return reply.body
}

export async function showOrder(api: ApiClient, id: string): Promise<Body> {
  const reply = await api.get(`/partner/orders/${id}`)
  assert.equal(reply.status, 200, reply.text)
  return reply.body
}

export async function untilOrder(api: ApiClient, id: string, state: string): Promise<Body> {
  let order: Body
  await eventually(async () => {
    order = await showOrder(api, id)
    return order.state === state
  }, `order ${id} to be ${state}`)
  return order
}

// `available` and `held` of the account in that currency.
export async function balance(api: ApiClient, currency = 'ARS'): Promise<[available: string, held: string]> {
  const { body } = await api.get('/partner/settlement-accounts')
  const account = body.settlement_accounts.find((each: Body) => each.currency === currency)
  return account ? [account.available, account.held] : ['0', '0']
}

export async function assertReconciled(service: Operated): Promise<Body> {
  const { body } = await service.operator.get('/reconciliation')
  assert.deepEqual(body.discrepancies, [])
  assert.equal(body.agrees, true)
  return body
}
