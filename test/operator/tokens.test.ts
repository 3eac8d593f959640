// Operator tokens: named, with roles, shown once, revocable. Every role is tried on every route.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { type ApiClient, type Body, createClient } from '../support/client.ts'
import { orderIn } from '../support/order-states.ts'
import { newOrderPartner } from '../support/orders.ts'
import { startTestService } from '../support/service.ts'

const service = await startTestService({ after }, { environment: { PAYOUT_RAIL: 'operator' } })
const { operator } = service
const clientWith = (token: string): ApiClient => createClient(service.operatorUrl, '/operator/v1', token)

async function newToken(name: string, roles: string[]): Promise<Body> {
  const { status, body } = await operator.post('/tokens', { name, roles })
  assert.equal(status, 201, JSON.stringify(body))
  return body
}

// Each call is one that would succeed, so that a 403 can only mean the role.
const { configuration_version, ...partner } = (await operator.post('/partners', { name: 'Matrix' })).body
const path = `/partners/${partner.id}`
const { body: configuration } = await operator.get(`${path}/configuration`)
const newKey = { name: 'By role', scopes: ['partner:read'] }
const { body: key } = await operator.post(`${path}/keys`, newKey)
const order = { id: 'o-1', state: 'completed', operation: 'buy' }
const payer = await newOrderPartner(service)
const states = { PENDING: 'pending', TAKEN: 'processing', PAID: 'completed' } as const
const anyRole = ['read', 'support', 'payouts', 'admin']
const payouts = ['payouts', 'admin']
const matrix: [method: string, path: string, may: string[], body?: object][] = [
  ['GET', '/partners', anyRole],
  ['GET', path, anyRole],
  ['GET', `${path}/configuration`, anyRole],
  ['GET', `${path}/configuration/versions`, anyRole],
  ['GET', `${path}/configuration/versions/1`, anyRole],
  ['GET', `${path}/keys`, anyRole],
  ['GET', '/audit-log', anyRole],
  ['GET', '/metrics', anyRole],
  ['GET', '/signing-keys', anyRole],
  ['GET', '/orders?state=pending', anyRole],
  ['GET', '/orders/PENDING', anyRole],
  ['GET', '/reconciliation', anyRole],
  ['GET', '/delivery', anyRole],
  ['POST', '/orders/PENDING/take', payouts],
  ['POST', '/orders/TAKEN/complete', payouts],
  ['POST', '/orders/TAKEN/fail', payouts],
  ['POST', '/orders/TAKEN/release', payouts],
  ['POST', '/orders/PAID/return', payouts],
  ['POST', '/orders/PENDING/cancel', ['support', 'admin']],
  ['POST', `${path}/console-links`, ['admin'], { key_id: key.id }],
  ['POST', `/partners/${payer.id}/top-ups`, payouts, { currency: 'ARS', amount: '1.00' }],
  ['PATCH', path, ['support', 'admin'], { state: 'active' }],
  ['DELETE', `${path}/keys/KEY`, ['support', 'admin']],
  ['POST', '/partners', ['admin'], { name: 'By role' }],
  ['PUT', `${path}/configuration`, ['admin'], configuration],
  ['POST', `${path}/keys`, ['admin'], newKey],
  ['POST', '/events', ['admin'], { partner_id: partner.id, id: 'by-role', action: 'order-closed', order }],
  ['POST', '/signing-keys/rotate', ['admin'], { now: false }],
  ['POST', '/signing-keys/reencrypt', ['admin']],
  ['GET', '/tokens', ['admin']],
  ['POST', '/tokens', ['admin'], { name: 'By role', roles: ['admin'] }],
  ['DELETE', '/tokens/TOKEN', ['admin']],
]

// With the id of a key, a token or an order that is there to be used up.
async function fillIn(route: string, role: string): Promise<string> {
  const word = /KEY$|TOKEN$|PENDING|TAKEN|PAID/.exec(route)?.[0]
  if (word === undefined) return route
  if (word === 'KEY') return route.replace(word, (await operator.post(`${path}/keys`, newKey)).body.id)
  if (word === 'TOKEN') return route.replace(word, (await newToken(`for ${role} to revoke`, ['read'])).id)
  return route.replace(word, (await orderIn(service, payer, states[word as keyof typeof states])).id)
}

for (const role of anyRole) {
  test(`the role ${role} opens the routes that are its own, and no other`, async () => {
    const { secret } = await newToken(`Matrix ${role}`, [role])
    const client = clientWith(secret)
    for (const [method, route, may, body] of matrix) {
      const target = await fillIn(route, role)
      const once = route.endsWith('top-ups') ? { ...body, reference_id: `by ${role}` } : body
      const reply = await client.call(method, target, once ? { body: once } : {})
      if (may.includes(role)) assert.ok(reply.status < 300, `${role} may ${method} ${route}: ${reply.text}`)
      else
        assert.deepEqual(
          [reply.status, reply.body.error_code],
          [403, 'forbidden'],
          `${role} may not ${method} ${route}`,
        )
    }
  })
}

test('the matrix above tries every operation that the OpenAPI document lists', async () => {
  const document = (await (await fetch(`${service.operatorUrl}/openapi.json`)).json()) as Body
  const listed = Object.entries(document.paths as Body).flatMap(([route, operations]) =>
    Object.keys(operations as Body).map((method) => `${method.toUpperCase()} ${route.replace(/\{\w+\}/g, '*')}`),
  )
  const ids = new RegExp(`${partner.id}|${payer.id}|KEY|TOKEN|PENDING|TAKEN|PAID|(?<=versions/)1`, 'g')
  const tried = matrix.map(([method, route]) => `${method} ${route.replace(ids, '*').split('?')[0]}`)
  const byCookie = listed.filter((each) => each.endsWith(' /session')) // these are for browsers: see test/console
  assert.equal(byCookie.length, 3)
  assert.deepEqual([...tried, ...byCookie].sort(), listed.sort())
})

test('several roles add up', async () => {
  const client = clientWith((await newToken('Both', ['read', 'support'])).secret)
  assert.equal((await client.patch(path, { state: 'active' })).status, 200)
  assert.equal((await client.post('/partners', { name: 'No' })).status, 403)
})

test('without a valid token nothing is told, and every refusal is the same', async () => {
  const { demoSecret } = service
  for (const token of [null, 'opt_', 'x', `opt_${'0'.repeat(40)}`, service.operatorToken.slice(1), demoSecret]) {
    const { status, headers, body } = await operator.get('/partners', { token })
    const refusal = { error_code: 'auth_required', error_msg: 'A valid operator token is required.' }
    assert.deepEqual([status, body], [401, refusal], String(token))
    assert.equal(headers.get('www-authenticate'), 'Bearer')
  }
})

test('a token is shown once, listed without its secret, and useless once revoked', async () => {
  const created = await operator.post('/tokens', { name: 'Grace', roles: ['read'] })
  const { secret, ...shown } = created.body
  assert.match(secret, /^opt_[0-9a-z]{40}$/)
  assert.equal(created.headers.get('cache-control'), 'no-store')
  assert.equal(shown.created_by, 'operator bootstrap (OPERATOR_TOKEN)')
  const listed = await operator.get('/tokens?limit=100')
  assert.deepEqual(
    listed.body.tokens.find((each: Body) => each.id === shown.id),
    shown,
  )
  assert.ok(!listed.text.includes(secret))

  const client = clientWith(secret)
  assert.equal((await client.get('/partners')).status, 200)
  assert.equal((await operator.delete(`/tokens/${shown.id}`)).status, 204)
  assert.equal((await client.get('/partners')).status, 401)
  const { tokens } = (await operator.get('/tokens?limit=100')).body
  assert.match(tokens.find((each: Body) => each.id === shown.id).revoked_at, /Z$/)
})

test('a name belongs to one active token at a time, so that the audit log is clear', async () => {
  const first = await newToken('Alan', ['read'])
  const again = await operator.post('/tokens', { name: 'Alan', roles: ['admin'] })
  assert.deepEqual([again.status, again.body.error_code], [409, 'conflict'])
  await operator.delete(`/tokens/${first.id}`)
  await newToken('Alan', ['read'])
})

test('a token that cannot be is refused, naming the field', async () => {
  for (const [wanted, place] of [
    [{ roles: ['read'] }, 'name'],
    [{ name: 'x', roles: [] }, 'roles'],
    [{ name: 'x', roles: ['root'] }, 'roles[0]'],
    [{ name: 'x', roles: ['read', 'read'] }, 'roles'],
    [{ name: 'x' }, 'roles'],
    [{ name: 'x', roles: ['read'], secret: 'mine' }, 'secret'],
  ] as const) {
    const { status, body } = await operator.post('/tokens', wanted)
    assert.deepEqual([status, body.error_code], [400, 'invalid_parameters'], JSON.stringify(wanted))
    assert.ok(body.error_msg.startsWith(place), body.error_msg)
  }
  assert.equal((await operator.delete('/tokens/opt_00000000000000000000000000')).status, 404)
  assert.equal((await operator.delete('/tokens/OPERATOR_TOKEN')).status, 404)
})
