// The audit log: every change with who made it, in the same breath as the change; the database itself refuses to alter it.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { pino } from 'pino'
import { parseConfig } from '../../src/config.ts'
import { openDatabase } from '../../src/db/open.ts'
import { type Body, createClient } from '../support/client.ts'
import { createDatabase } from '../support/database.ts'
import { startTestService } from '../support/service.ts'

const service = await startTestService({ after })
const { operator } = service

test('every change names its author, its target and its request, and never a secret', async () => {
  const { body: token } = await operator.post('/tokens', { name: 'Ada', roles: ['admin'] })
  const ada = createClient(service.operatorUrl, '/operator/v1', token.secret)
  const actor = { kind: 'operator', id: token.id, name: 'Ada' }
  const { body: partner } = await ada.post('/partners', { name: 'Audited' }, { headers: { 'x-request-id': 'made-it' } })
  const path = `/partners/${partner.id}`
  const { body: configuration } = await ada.get(`${path}/configuration`)
  await ada.put(`${path}/configuration`, configuration)
  await ada.patch(path, { state: 'suspended' })
  await ada.patch(path, { state: 'active' })
  const scopes = ['partner:read', 'keys:write']
  const { body: key } = await ada.post(`${path}/keys`, { name: 'first', scopes })
  const partnerClient = createClient(service.url, '/v1', key.secret)
  const { body: second } = await partnerClient.post('/partner/keys', { name: 'second', scopes: ['partner:read'] })
  await partnerClient.delete(`/partner/keys/${second.id}`)
  await ada.delete(`${path}/keys/${key.id}`)

  const { body, text } = await operator.get(`/audit-log?partner_id=${partner.id}`)
  const byKey = { kind: 'key', id: key.id, name: 'first' }
  const noted = body.entries.map((each: Body) => [each.action, each.actor, each.target_id])
  const inOrder = (rows: unknown[]) => rows.map((row) => JSON.stringify(row)).sort()
  assert.deepEqual(
    inOrder(noted),
    inOrder([
      ['partner.created', actor, partner.id],
      ['configuration.written', actor, partner.id],
      ['partner.suspended', actor, partner.id],
      ['partner.activated', actor, partner.id],
      ['key.created', actor, key.id],
      ['key.created', byKey, second.id],
      ['key.revoked', byKey, second.id],
      ['key.revoked', actor, key.id],
    ]),
  )
  assert.ok(body.entries.every((each: Body) => each.partner_id === partner.id && each.request_id && each.at))
  assert.equal(body.entries.find((each: Body) => each.action === 'partner.created').request_id, 'made-it')
  for (const secret of [key.secret, second.secret, token.secret]) assert.ok(!text.includes(secret))
})

test('making and revoking operator tokens is noted too, and what was only read or refused is not', async () => {
  const { body: token } = await operator.post('/tokens', { name: 'Grace', roles: ['read'] })
  const grace = createClient(service.operatorUrl, '/operator/v1', token.secret)
  await grace.get('/partners')
  assert.equal((await grace.post('/partners', { name: 'No' })).status, 403)
  assert.equal((await operator.post('/partners', { name: '' })).status, 400)
  await operator.delete(`/tokens/${token.id}`)
  const { entries } = (await operator.get('/audit-log?limit=100')).body
  const about = entries.filter((each: Body) => each.target_id === token.id || each.actor.id === token.id)
  assert.deepEqual(about.map((each: Body) => [each.action, each.actor.name]).sort(), [
    ['token.created', 'bootstrap'],
    ['token.revoked', 'bootstrap'],
  ])
})

test('the log is paged without gaps or repeats while it grows, and by partner', async () => {
  const all: Body[] = (await operator.get('/audit-log?limit=100')).body.entries
  const seen: Body[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const { body }: { body: Body } = await operator.get(`/audit-log?limit=3${cursor && `&cursor=${cursor}`}`)
    seen.push(...body.entries)
    cursor = body.next_cursor
    await operator.post('/partners', { name: 'added meanwhile' })
  }
  assert.deepEqual(seen, all)
  const { entries } = (await operator.get(`/audit-log?partner_id=${service.demoPartnerId}`)).body
  assert.ok(entries.length > 0 && entries.every((each: Body) => each.partner_id === service.demoPartnerId))
  assert.deepEqual((await operator.get('/audit-log?partner_id=nobody')).body.entries, [])
})

test('no route changes the log', async () => {
  const { entries } = (await operator.get('/audit-log')).body
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
    assert.equal((await operator.call(method, '/audit-log')).status, 405)
    assert.equal((await operator.call(method, `/audit-log/${entries[0].id}`)).status, 404)
  }
})

test('the database refuses to change, delete or empty the log', async (t) => {
  const database = await createDatabase()
  const result = parseConfig(database.environment)
  assert.ok(result.ok)
  const first = await startTestService(t, { database })
  await first.operator.post('/partners', { name: 'Noted' })
  await first.stop()
  const db = await openDatabase(result.config, pino({ level: 'silent' }))
  t.after(async () => {
    await db.close()
    await database.remove()
  })
  const log = async () => (await db.query('select * from audit_log order by id')).rows
  const before = await log()
  assert.ok(before.length > 0)
  for (const statement of [
    `update audit_log set actor_name = 'nobody'`,
    `update audit_log set actor_name = 'nobody' where false`,
    'delete from audit_log',
    'truncate audit_log',
  ]) {
    await assert.rejects(db.query(statement), /append-only/, statement)
  }
  assert.deepEqual(await log(), before)
})
