// Secret keys: who gets in, who does not, and that a refused caller changes nothing. Whatever is wrong with a credential, the
// answer is one and the same 401, so that it tells a guesser nothing.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { pino } from 'pino'
import { parseConfig } from '../../src/config.ts'
import { openDatabase } from '../../src/db/open.ts'
import { type Body, createClient } from '../support/client.ts'
import { createDatabase } from '../support/database.ts'
import { startTestService } from '../support/service.ts'

let skewMs = 0
const now = () => new Date(Date.now() + skewMs)
const service = await startTestService({ after }, { now })
const { operator, partner } = service

async function newKey(wanted: object = {}, partnerId = service.demoPartnerId): Promise<Body> {
  const key = { name: 'test', scopes: ['partner:read'], ...wanted }
  const { status, body } = await operator.post(`/partners/${partnerId}/keys`, key)
  assert.equal(status, 201, JSON.stringify(body))
  return body
}

const unauthenticated = { error_code: 'auth_required', error_msg: 'A valid API credential is required.' }

async function refused(authorization: string | undefined, why: string): Promise<void> {
  const headers = authorization === undefined ? {} : { authorization }
  const { status, body, headers: answered } = await partner.get('/partner', { token: null, headers })
  assert.deepEqual([status, body], [401, unauthenticated], why)
  assert.equal(answered.get('www-authenticate'), 'Bearer', why)
}

test('no credential, a malformed one and an unknown one are all the same 401', async () => {
  await refused(undefined, 'none')
  for (const bad of [
    '',
    'Bearer',
    'Bearer ',
    'Basic dXNlcjpwYXNz',
    service.demoSecret,
    `Token ${service.demoSecret}`,
  ]) {
    await refused(bad, bad)
  }
  const [prefix, secret] = [service.demoSecret.slice(0, 17), service.demoSecret.slice(17)]
  const almost = secret.slice(0, -1) + (secret.endsWith('0') ? '1' : '0')
  for (const bad of [
    'psk_',
    'garbage',
    'a.b.c',
    '...',
    prefix + almost, // the right prefix with another secret
    service.demoSecret.toUpperCase(),
    service.demoSecret.slice(0, -1),
    `${service.demoSecret}0`,
    `${service.demoSecret} ${service.demoSecret}`,
    `psk_zzzzzzzzzzzz_${'z'.repeat(32)}`,
    'x'.repeat(5_000),
    service.operatorToken, // the operator's credential is nothing here
  ]) {
    await refused(`Bearer ${bad}`, bad.slice(0, 60))
  }
})

test('the scheme is read in any case, as HTTP has it', async () => {
  const reply = await partner.get('/partner', {
    token: null,
    headers: { authorization: `bearer ${service.demoSecret}` },
  })
  assert.equal(reply.status, 200)
})

test('a key works until it expires, and not a moment longer', async () => {
  const { secret } = await newKey({ expires_at: new Date(Date.now() + 3_600_000).toISOString() })
  assert.equal((await partner.get('/partner', { token: secret })).status, 200)
  skewMs = 3_600_001
  try {
    await refused(`Bearer ${secret}`, 'expired')
  } finally {
    skewMs = 0
  }
})

test('a key that would be born expired, or at no time that exists, is refused', async () => {
  for (const bad of ['2001-01-01T00:00:00Z', '2099-02-30T00:00:00Z', '2099-01-01', 'tomorrow', 4_102_444_800]) {
    const { status, body } = await operator.post(`/partners/${service.demoPartnerId}/keys`, {
      name: 'test',
      scopes: ['partner:read'],
      expires_at: bad,
    })
    assert.deepEqual([status, body.error_code], [400, 'invalid_parameters'], String(bad))
    assert.match(body.error_msg, /^expires_at /)
  }
})

test('a revoked key is refused from then on, and revoking it again changes nothing', async () => {
  const { id, secret } = await newKey()
  assert.equal((await partner.get('/partner', { token: secret })).status, 200)
  assert.equal((await operator.delete(`/partners/${service.demoPartnerId}/keys/${id}`)).status, 204)
  await refused(`Bearer ${secret}`, 'revoked')
  const revokedAt = async () =>
    (await operator.get(`/partners/${service.demoPartnerId}/keys`)).body.keys.find((key: Body) => key.id === id)
      .revoked_at
  const first = await revokedAt()
  assert.match(first, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
  assert.equal((await operator.delete(`/partners/${service.demoPartnerId}/keys/${id}`)).status, 204)
  assert.equal(await revokedAt(), first)
})

test('a key opens its own partner’s account and no other', async () => {
  const { body: other } = await operator.post('/partners', { name: 'Other Partner' })
  const { secret } = await newKey({}, other.id)
  assert.equal((await partner.get('/partner', { token: secret })).body.name, 'Other Partner')
  assert.equal((await partner.get('/partner')).body.name, 'Demo Partner')
})

test('every route asks for its scope, and says which one is missing', async () => {
  const reader = await newKey({ scopes: ['partner:read'] })
  const keeper = await newKey({ scopes: ['keys:write'] })
  const before = (await partner.get('/partner/keys')).body.keys.length
  for (const [key, method, path, scope] of [
    [keeper, 'GET', '/partner', 'partner:read'],
    [reader, 'GET', '/partner/keys', 'keys:write'],
    [reader, 'POST', '/partner/keys', 'keys:write'],
    [reader, 'DELETE', `/partner/keys/${reader.id}`, 'keys:write'],
  ] as const) {
    const body = method === 'POST' ? { body: { name: 'more', scopes: ['partner:read'] } } : {}
    const reply = await partner.call(method, path, { token: key.secret, ...body })
    assert.deepEqual([reply.status, reply.body.error_code], [403, 'forbidden'], `${method} ${path}`)
    assert.match(reply.body.error_msg, new RegExp(scope))
  }
  const { keys } = (await partner.get('/partner/keys')).body
  assert.equal(keys.length, before)
  assert.equal(keys.find((key: Body) => key.id === reader.id).revoked_at, null)
})

test('a suspended partner is refused with 403 everywhere, and is back as it was once activated', async () => {
  const { body: other } = await operator.post('/partners', { name: 'Paused Partner' })
  const { secret } = await newKey({ scopes: ['partner:read', 'keys:write'] }, other.id)
  const paused = createClient(service.url, '/v1', secret)
  assert.equal((await paused.get('/partner')).status, 200)
  await operator.patch(`/partners/${other.id}`, { state: 'suspended' })
  for (const reply of [
    await paused.get('/partner'),
    await paused.get('/partner/keys'),
    await paused.post('/partner/keys', { name: 'more', scopes: ['partner:read'] }),
  ]) {
    assert.deepEqual([reply.status, reply.body.error_code], [403, 'forbidden'])
  }
  await operator.patch(`/partners/${other.id}`, { state: 'active' })
  assert.equal((await paused.get('/partner')).body.name, 'Paused Partner')
  assert.equal((await paused.get('/partner/keys')).body.keys.length, 1)
})

test('no secret is anywhere in the database, and when a key was last used is there after a restart', async (t) => {
  const database = await createDatabase()
  t.after(() => database.remove())
  const first = await startTestService(t, { database })
  const used = await first.operator.post(`/partners/${first.demoPartnerId}/keys`, {
    name: 'used',
    scopes: ['partner:read'],
  })
  const token = await first.operator.post('/tokens', { name: 'Ada', roles: ['read'] })
  assert.equal(used.body.last_used_at, null)
  assert.equal((await first.partner.get('/partner', { token: used.body.secret })).status, 200)
  assert.equal((await first.operator.get('/partners', { token: token.body.secret })).status, 200)
  await first.stop()

  const config = parseConfig(database.environment)
  assert.ok(config.ok)
  const db = await openDatabase(config.config, pino({ level: 'silent' }))
  const { rows: tables } = await db.query<{ name: string }>(
    `select table_name as name from information_schema.tables where table_schema = 'public'`,
  )
  let everything = ''
  for (const { name } of tables) {
    const { rows } = await db.query<{ row: string }>(`select t::text as row from ${name} t`)
    everything += rows.map(({ row }) => `${name}: ${row}\n`).join('')
  }
  await db.close()
  assert.ok(everything.includes(used.body.id) && everything.includes(token.body.id), 'the dump holds what was made')
  for (const secret of [used.body.secret, token.body.secret, first.demoSecret, first.operatorToken] as string[]) {
    for (const form of [
      secret,
      secret.slice(-32),
      Buffer.from(secret).toString('hex'),
      Buffer.from(secret).toString('base64'),
    ]) {
      assert.ok(!everything.includes(form), 'a secret is stored only as a hash')
    }
  }

  const second = await startTestService(t, { database })
  const { body } = await second.operator.get(`/partners/${second.demoPartnerId}/keys`)
  const again = body.keys.find((key: Body) => key.id === used.body.id)
  assert.match(again.last_used_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
  assert.ok(!('secret' in again))
})
