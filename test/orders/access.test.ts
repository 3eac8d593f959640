// Who may do what with orders: each scope opens its own routes and no other; a suspended partner is shut out while its confirmed
// orders run on; in production the sandbox's routes do not exist.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { pino } from 'pino'
import { parseConfig } from '../../src/config.ts'
import { scopes } from '../../src/partners/schema.ts'
import { startService } from '../../src/service.ts'
import { type Body, createClient } from '../support/client.ts'
import { createDatabase } from '../support/database.ts'
import { eventually } from '../support/endpoint.ts'
import { assertRefused, ok } from '../support/order-states.ts'
import {
  assertReconciled,
  balance,
  cbuFields,
  confirmedOrder,
  createOrder,
  newOrderPartner,
  showOrder,
  topUp,
  withdrawal,
} from '../support/orders.ts'
import { newKey } from '../support/partner.ts'
import { startTestService } from '../support/service.ts'

const service = await startTestService({ after })
const [read, write, confirm] = ['orders:read', 'orders:write', 'orders:confirm'] as const
const missing = '00000000000000000000000000'
const routes: [method: string, path: string, scope: string][] = [
  ['POST', '/partner/outgoing-instructions', write],
  ['GET', '/partner/outgoing-instructions', read],
  ['GET', `/partner/outgoing-instructions/oin_${missing}`, read],
  ['DELETE', `/partner/outgoing-instructions/oin_${missing}`, write],
  ['POST', '/partner/orders', write],
  ['GET', '/partner/orders', read],
  ['GET', `/partner/orders/ord_${missing}`, read],
  ['POST', `/partner/orders/ord_${missing}/confirm`, confirm],
  ['POST', `/partner/orders/ord_${missing}/cancel`, write],
  ['GET', '/partner/settlement-accounts', read],
  ['GET', '/partner/settlement-accounts/ARS/statement', read],
  ['POST', '/sandbox/top-ups', write],
  ['POST', `/sandbox/orders/ord_${missing}/complete`, write],
  ['POST', `/sandbox/orders/ord_${missing}/fail`, write],
]

test('each route needs exactly its scope', async () => {
  const { id, instructionId } = await newOrderPartner(service)
  const bodies: Record<string, object> = {
    '/partner/outgoing-instructions': { type: 'ar_cbu', currency: 'ARS', fields: cbuFields },
    '/partner/orders': withdrawal(instructionId),
    '/sandbox/top-ups': { currency: 'ARS', amount: '1.00' },
  }
  for (const own of scopes) {
    const only = (await newKey(service, id, [own])).api
    const allBut = (
      await newKey(
        service,
        id,
        scopes.filter((each) => each !== own),
      )
    ).api
    for (const [method, path, scope] of routes) {
      const call = { ...(method === 'POST' && bodies[path] ? { body: bodies[path] } : {}) }
      for (const [client, may] of [
        [only, scope === own],
        [allBut, scope !== own],
      ] as const) {
        const reply = await client.call(method, path, call)
        const expected = may ? (path.includes(missing) ? 404 : method === 'POST' ? 201 : 200) : 403
        assert.equal(reply.status, expected, `${method} ${path} with ${own}: ${reply.text}`)
      }
    }
  }
})

test('the routes above are all that the OpenAPI document lists about orders', async () => {
  const document = (await (await fetch(`${service.url}/openapi.json`)).json()) as Body
  const listed = Object.entries(document.paths as Body).flatMap(([path, operations]) =>
    Object.keys(operations as Body).map((method) => `${method.toUpperCase()} ${path.replace(/\{\w+\}/g, '*')}`),
  )
  const about = /orders|outgoing-instructions|settlement-accounts|top-ups/
  const tried = routes.map(([method, path]) => `${method} ${path.replace(/(oin|ord)_0+|ARS/, '*')}`)
  assert.deepEqual(tried.sort(), listed.filter((each) => about.test(each)).sort())
})

test('a suspended partner is shut out, and its confirmed orders are paid all the same', async () => {
  const partner = await newOrderPartner(service)
  const waiting = await createOrder(partner)
  const confirmed = await confirmedOrder(partner, '500.00')
  await ok(service.operator.patch(`/partners/${partner.id}`, { state: 'suspended' }))
  for (const reply of [
    await partner.api.get('/partner/orders'),
    await partner.api.post('/partner/orders', withdrawal(partner.instructionId)),
    await partner.api.post(`/partner/orders/${waiting.id}/confirm`),
    await partner.api.post(`/partner/orders/${waiting.id}/cancel`),
    await partner.api.get('/partner/settlement-accounts'),
    await partner.api.post('/sandbox/top-ups', { currency: 'ARS', amount: '1.00' }),
  ])
    assertRefused(reply, 403, 'forbidden')
  const state = async (id: string) => (await ok(service.operator.get(`/orders/${id}`))).body.state
  await eventually(async () => (await state(confirmed.id)) === 'completed', 'the confirmed order to be paid')
  await topUp(service, partner.id, '1.00') // money that arrives is not turned away
  assert.equal(await state(waiting.id), 'awaiting_confirmation')
  await ok(service.operator.patch(`/partners/${partner.id}`, { state: 'active' }))
  assert.deepEqual(await showOrder(partner.api, waiting.id), waiting)
  assert.deepEqual(await balance(partner.api), ['999501.00', '0.00'])
  await assertReconciled(service)
})

test('in production there are no sandbox routes, and the operator pays', async (t) => {
  const database = await createDatabase()
  const token = 'a-token-of-at-least-24-characters'
  const asked = {
    ...database.environment,
    PORT: '0',
    OPERATOR_PORT: '0',
    HOST: '127.0.0.1',
    OPERATOR_TOKEN: token,
    PAYOUT_RAIL: 'operator',
  }
  const result = parseConfig(asked)
  assert.ok(result.ok)
  const running = await startService({ ...result.config, mode: 'production' }, { log: pino({ level: 'silent' }) })
  t.after(async () => {
    await running.stop()
    await database.remove()
  })
  const production = {
    partner: createClient(running.url, '/v1'),
    operator: createClient(running.operatorUrl, '/operator/v1', token),
  }
  const partner = await newOrderPartner(production)
  const { id } = await confirmedOrder(partner)
  for (const path of ['/sandbox/top-ups', `/sandbox/orders/${id}/complete`, `/sandbox/orders/${id}/fail`])
    assertRefused(await partner.api.post(path, {}), 404, 'not_found')
  await ok(production.operator.post(`/orders/${id}/take`))
  await ok(production.operator.post(`/orders/${id}/complete`))
  await assertReconciled(production)
})
