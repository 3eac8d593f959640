// "What became of my call?": every request that could change something and every refusal can be looked up by its id, by its own
// partner only, and without anything that was sent.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { forgetOldRequests } from '../../src/partners/request-log.ts'
import { signIn } from '../support/browser.ts'
import type { ApiClient } from '../support/client.ts'
import { createDatabase, databaseKind } from '../support/database.ts'
import { eventually } from '../support/endpoint.ts'
import { newKey, newPartner } from '../support/partner.ts'
import { startRestartable } from '../support/restarts.ts'
import { startTestService } from '../support/service.ts'

const service = await startTestService({ after })
const { partner, demoPartnerId, demoSecret } = service
let count = 0
const named = () => `call-${++count}`

// The log is written when the answer has gone out, which can be a moment after it arrived.
async function lookUp(api: ApiClient, id: string) {
  let reply = await api.get(`/requests/${id}`)
  await eventually(async () => {
    reply = await api.get(`/requests/${id}`)
    return reply.status === 200
  }, `the request ${id}`)
  return reply.body
}

test('a refused call and one that changed something can be looked up', async () => {
  const refusedId = named()
  const { body: error } = await partner.post('/partner/orders/ord_1/confirm?x=1', undefined, {
    headers: { 'x-request-id': refusedId },
  })
  const refused = await lookUp(partner, refusedId)
  const { at, duration_ms, key_id, ...rest } = refused
  assert.deepEqual(rest, {
    request_id: refusedId,
    method: 'POST',
    route: '/v1/partner/orders/{order_id}/confirm',
    path: '/v1/partner/orders/ord_1/confirm',
    status: 404,
    error_code: error.error_code,
    error_msg: error.error_msg,
    address: '127.0.0.1',
  })
  assert.match(key_id, /^key_/)
  assert.ok(Math.abs(Date.parse(at) - Date.now()) < 60_000 && duration_ms >= 0)

  const { headers } = await partner.post('/console/links', {})
  const made = await lookUp(partner, headers.get('x-request-id')!)
  assert.deepEqual([made.status, made.error_code, made.error_msg], [201, null, null])
})

test('refusals at the gate are kept for callers that are known: scope, address, forgery', async (t) => {
  const weak = await newKey(service, demoPartnerId, ['webhooks:read'])
  const scope = named()
  await weak.api.get('/partner', { headers: { 'x-request-id': scope } })
  const kept = await lookUp(partner, scope)
  assert.deepEqual([kept.status, kept.error_code, kept.key_id], [403, 'forbidden', weak.id])
  assert.match(kept.error_msg, /partner:read/)

  const browser = await signIn(partner, { secret: demoSecret })
  const forged = named()
  await browser.post('/console/links', {}, { headers: { 'x-console': '', 'x-request-id': forged } })
  assert.equal((await lookUp(partner, forged)).status, 403)

  const limited = await startTestService(t, { environment: { RATE_LIMIT: '1:20' } })
  const last = named()
  await eventually(async () => {
    const reply = await limited.partner.get('/partner', { headers: { 'x-request-id': last } })
    return reply.status === 429
  }, 'too many requests')
  const { secret } = await newKey(limited, limited.demoPartnerId, ['partner:read'])
  const other = { token: secret }
  await eventually(async () => (await limited.partner.get(`/requests/${last}`, other)).status === 200, 'the log')
  assert.equal((await limited.partner.get(`/requests/${last}`, other)).body.error_code, 'too_many_requests')
})

test('successful reads and callers that are not known leave nothing', async () => {
  const [read, unknown, marker] = [named(), named(), named()]
  assert.equal((await partner.get('/partner', { headers: { 'x-request-id': read } })).status, 200)
  await partner.get('/partner', { token: 'psk_wrong', headers: { 'x-request-id': unknown } })
  await partner.get('/webhooks/events/none', { headers: { 'x-request-id': marker } })
  await lookUp(partner, marker) // later than the others
  for (const id of [read, unknown, 'never']) assert.equal((await partner.get(`/requests/${id}`)).status, 404, id)
})

test('of several requests under one id the latest is shown', async () => {
  const id = named()
  await partner.get('/webhooks/events/none', { headers: { 'x-request-id': id } })
  await lookUp(partner, id)
  await partner.delete('/partner/keys/none', { headers: { 'x-request-id': id } })
  await eventually(async () => (await lookUp(partner, id)).method === 'DELETE', 'the later request')
})

test('a partner sees its own requests only, and only with partner:read', async () => {
  const theirs = await newPartner(service)
  const id = named()
  await theirs.api.post('/webhooks/subscriptions', {}, { headers: { 'x-request-id': id } })
  const reader = await newKey(service, theirs.id, ['partner:read'])
  assert.equal((await lookUp(reader.api, id)).status, 400)
  assert.equal((await partner.get(`/requests/${id}`)).status, 404)
  assert.equal((await theirs.api.get(`/requests/${id}`)).status, 403)
})

test('neither bodies nor headers nor queries are kept, and rows go after a week', async (t) => {
  const restartable = await startRestartable(t)
  const { partner } = restartable.service
  const marked = { headers: { 'x-marker': 'marker-header', cookie: 'marker=cookie' } }
  await partner.post('/webhooks/subscriptions?marker=query', { url: 'https://marker-body.example', events: [] }, marked)
  await partner.post('/partner/keys', { name: 'marker-name', scopes: ['partner:read'] }, marked)
  const rows = await restartable.meanwhile(async (db) => {
    const found = (await db.query<{ id: string }>('select * from requests order by id')).rows
    await db.query(`update requests set at = now() - interval '7 days 1 minute' where id = $1`, [found[0]!.id])
    await db.query(`update requests set at = now() - interval '6 days 23 hours' where id = $1`, [found[1]!.id])
    await forgetOldRequests(db)
    assert.deepEqual((await db.query('select id from requests')).rows, [{ id: found[1]!.id }])
    return found
  })
  assert.equal(rows.length, 2)
  assert.doesNotMatch(JSON.stringify(rows), /marker/)
})

if (databaseKind === 'postgres') {
  test('a request is found through any process', async (t) => {
    const database = await createDatabase()
    const here = await startTestService(t, { database })
    const there = await startTestService(t, { database })
    t.after(() => database.remove())
    const id = named()
    await here.partner.delete('/partner/keys/none', { headers: { 'x-request-id': id } })
    assert.equal((await lookUp(there.partner, id)).status, 404)
  })
}
