// Console sessions of operators: worth what their token is worth, gone with it, OPERATOR_TOKEN included.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { readSetCookie, signIn, withCookie } from '../support/browser.ts'
import { createDatabase, databaseKind } from '../support/database.ts'
import { assertHonoured } from '../support/honoured.ts'
import { startRestartable } from '../support/restarts.ts'
import { startTestService, type TestService } from '../support/service.ts'

let now = Date.now()
const service = await startTestService({ after }, { now: () => new Date(now) })
const { operator, operatorToken } = service

async function newToken({ operator }: TestService, name: string, roles: string[]) {
  const { status, body } = await operator.post('/tokens', { name, roles })
  assert.equal(status, 201, JSON.stringify(body))
  return body as { id: string; secret: string }
}

test('an operator signs in with a token, and the cookie then stands for it', async () => {
  const { secret } = await newToken(service, 'Grace', ['support'])
  const browser = await signIn(operator, { token: secret })
  const { name, attributes } = readSetCookie(browser.signedIn)
  assert.deepEqual([name, attributes], ['operator_session', ['HttpOnly', 'Max-Age=43200', 'Path=/', 'SameSite=Strict']])
  const { expires_at, ...session } = (await browser.get('/session')).body
  assert.deepEqual(session, { name: 'Grace', roles: ['support'], mode: 'sandbox' })
  assert.match(expires_at, /Z$/)
  assert.equal((await browser.get('/partners')).status, 200)
  assert.equal((await browser.post('/partners', { name: 'No' })).status, 403, 'no more than its roles')
  assert.equal((await operator.get('/session')).status, 401, 'the token itself is no session')
})

test('what an operator does through the console is the token’s doing in the audit log', async () => {
  const { id, secret } = await newToken(service, 'Ada', ['admin'])
  const browser = await signIn(operator, { token: secret })
  const { body: made } = await browser.post('/partners', { name: 'By console' })
  const { entries } = (await operator.get(`/audit-log?partner_id=${made.id}`)).body
  assert.deepEqual(entries[0].actor, { kind: 'operator', id, name: 'Ada' })
})

test('a wrong token signs nobody in', async () => {
  for (const token of ['', 'x', `opt_${'0'.repeat(40)}`, operatorToken.slice(1), service.demoSecret]) {
    const reply = await operator.post('/session', { token }, { token: null })
    assert.deepEqual([reply.status, reply.body.error_code], [401, 'auth_required'])
    assert.deepEqual(reply.headers.getSetCookie(), [])
  }
})

test('with a cookie, whatever could change something has to come from the console itself', async () => {
  const browser = await signIn(operator, { token: operatorToken })
  const origin = service.operatorUrl
  for (const headers of [
    { 'x-console': '' },
    { origin: 'https://evil.example' },
    { origin: service.url },
    { 'sec-fetch-site': 'same-site' },
  ]) {
    const reply = await browser.post('/partners', { name: 'Forged' }, { headers })
    assert.deepEqual([reply.status, reply.body.error_code], [403, 'forbidden'], JSON.stringify(headers))
  }
  const own = { headers: { origin, 'sec-fetch-site': 'same-origin' } }
  assert.equal((await browser.post('/partners', { name: 'Made' }, own)).status, 201)
  const foreign = { headers: { origin: 'https://evil.example' }, token: null }
  assert.equal((await operator.post('/session', { token: operatorToken }, foreign)).status, 403)
})

test('a partner’s session opens nothing here, nor an operator’s on the partner listener', async () => {
  const asPartner = await signIn(service.partner, { secret: service.demoSecret })
  const asOperator = await signIn(operator, { token: operatorToken })
  for (const token of [asPartner.token, asOperator.token]) {
    const both = `partner_session=${token}; operator_session=${token}`
    const opened = [
      (await withCookie(service.partner, both).get('/partner')).status,
      (await withCookie(operator, both).get('/partners')).status,
    ]
    assert.deepEqual(opened, token === asPartner.token ? [200, 401] : [401, 200])
  }
})

test('signing out, revoking the token and twelve hours each end a session', async (t) => {
  t.after(() => {
    now = Date.now()
  })
  const { id, secret } = await newToken(service, 'Alan', ['read'])
  const [out, revoked] = [await signIn(operator, { token: secret }), await signIn(operator, { token: secret })]
  const long = await signIn(operator, { token: operatorToken })
  assert.equal((await out.delete('/session')).status, 204)
  assert.deepEqual([(await out.get('/session')).status, (await revoked.get('/session')).status], [401, 200])
  assert.equal((await operator.delete(`/tokens/${id}`)).status, 204)
  for (const path of ['/session', '/partners']) assert.equal((await revoked.get(path)).status, 401)
  const begin = now
  now = begin + 12 * 3_600_000 - 2_000
  assert.equal((await long.get('/partners')).status, 200)
  now = begin + 12 * 3_600_000 + 2_000
  assert.equal((await long.get('/partners')).status, 401)
})

test('a session of OPERATOR_TOKEN ends when that is another one, and nothing stored tells what it was', async (t) => {
  const first = 'first-operator-token-of-this-test'
  const restartable = await startRestartable(t, { OPERATOR_TOKEN: first })
  const browser = await signIn(restartable.service.operator, { token: first })
  const rows = await restartable.meanwhile(async (db) => (await db.query('select * from operator_sessions')).rows)
  assert.equal(rows.length, 1)
  assert.ok(!JSON.stringify(rows).includes(browser.token))
  assert.equal((await browser.get('/partners')).status, 200, 'it outlives a restart with the same token')
  await restartable.stop()
  await restartable.start({ OPERATOR_TOKEN: 'second-operator-token-of-this-test' })
  assert.equal((await browser.get('/partners')).status, 401)
  await restartable.stop()
  await restartable.start({ OPERATOR_TOKEN: first })
  assert.equal((await browser.get('/partners')).status, 200)
})

if (databaseKind === 'postgres') {
  test('a session is worth nothing on any process within a second of its token’s revocation', async (t) => {
    const database = await createDatabase()
    const environment = { OPERATOR_TOKEN: 'an-operator-token-for-two-processes' }
    const here = await startTestService(t, { database, environment })
    const there = await startTestService(t, { database, environment })
    t.after(() => database.remove())
    const { id, secret } = await newToken(here, 'Revoked', ['read'])
    const { cookie } = await signIn(here.operator, { token: secret })
    await assertHonoured(
      () => here.operator.delete(`/tokens/${id}`),
      () => withCookie(there.operator, cookie).get('/partners'),
      ({ status }) => status === 401,
    )
  })
}
