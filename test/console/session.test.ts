// Console sessions of partners: begun with a key, worth what the key is worth, gone with it.
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { after, test } from 'node:test'
import { readSetCookie, signIn, withCookie } from '../support/browser.ts'
import { createDatabase, databaseKind } from '../support/database.ts'
import { assertHonoured } from '../support/honoured.ts'
import { newKey } from '../support/partner.ts'
import { startRestartable } from '../support/restarts.ts'
import { startTestService, type TestService } from '../support/service.ts'

let now = Date.now()
const service = await startTestService({ after }, { now: () => new Date(now) })
const { partner, operator, demoSecret, demoPartnerId } = service
const key = (scopes: string[]) => newKey(service, demoPartnerId, scopes)

test('a key signs in, and the cookie then stands for it', async () => {
  const browser = await signIn(partner, { secret: demoSecret })
  const session = browser.signedIn.body
  assert.deepEqual([session.partner_id, session.partner_name], [demoPartnerId, 'Demo Partner'])
  assert.deepEqual([session.key_name, session.mode], ['demo', 'sandbox'])
  assert.equal(session.scopes.length, 7)
  assert.equal(browser.signedIn.headers.get('cache-control'), 'no-store')
  assert.deepEqual((await browser.get('/console/session')).body, session)
  const account = await browser.get('/partner')
  assert.equal(account.body.name, 'Demo Partner')
  const keys = await browser.get('/partner/keys')
  assert.deepEqual([keys.status, keys.headers.get('cache-control')], [200, 'no-store'])
})

test('the cookie is for this host, this site and no script; over TLS for TLS only', async (t) => {
  const common = ['HttpOnly', 'Max-Age=43200', 'Path=/', 'SameSite=Strict']
  const plain = readSetCookie(await partner.post('/console/session', { secret: demoSecret }, { token: null }))
  assert.deepEqual([plain.name, plain.attributes], ['partner_session', common])
  assert.match(plain.token, /^[\w-]{43}$/) // 256 bits

  const forwarded = { headers: { 'x-forwarded-proto': 'https' }, token: null }
  const believedBy = async (environment: Record<string, string>) => {
    const { partner, demoSecret: secret } = await startTestService(t, { environment, now: () => new Date(now) })
    const reply = await partner.post('/console/session', { secret }, forwarded)
    const { name, token, attributes } = readSetCookie(reply)
    const session = await withCookie(partner, `${name}=${token}`).get('/console/session', forwarded)
    assert.equal(session.status, 200)
    // Under the name that any other host of the domain could set, it is not taken.
    if (name !== 'partner_session')
      assert.equal((await withCookie(partner, `partner_session=${token}`).get('/partner', forwarded)).status, 401)
    return [name, attributes]
  }
  const secure = ['__Host-partner_session', [...common, 'Secure']]
  assert.deepEqual(await believedBy({ PUBLIC_URL: 'https://api.example.com' }), secure)
  assert.deepEqual(await believedBy({ TRUSTED_PROXIES: '127.0.0.1' }), secure)
  assert.deepEqual(await believedBy({ TRUSTED_PROXIES: '10.0.0.1' }), ['partner_session', common])
})

test('who cannot call cannot sign in either', async () => {
  const attempt = (secret: string, headers = {}) =>
    partner.post('/console/session', { secret }, { token: null, headers })
  const revoked = await key(['partner:read'])
  await operator.delete(`/partners/${demoPartnerId}/keys/${revoked.id}`)
  const wrong = [revoked.secret, `${demoSecret.slice(0, -1)}x`, 'psk_', '', service.operatorToken, 'x'.repeat(200)]
  for (const secret of wrong) {
    const { status, body, headers } = await attempt(secret)
    const refusal = { error_code: 'auth_required', error_msg: 'A valid API credential is required.' }
    assert.deepEqual([status, body], [401, refusal], secret)
    assert.deepEqual(headers.getSetCookie(), [])
  }
  const wanted = { name: 'elsewhere', scopes: ['partner:read'], allowed_cidrs: ['10.0.0.0/8'] }
  const elsewhere = (await operator.post(`/partners/${demoPartnerId}/keys`, wanted)).body
  assert.equal((await attempt(elsewhere.secret)).status, 403)
  for (const body of [{}, { secret: demoSecret, link: 'x' }, { secret: 1 }, { token: 'x' }, 'null'])
    assert.equal((await partner.post('/console/session', body, { token: null })).status, 400)
})

test('a made-up cookie is worth nothing, and a credential in the header outweighs any cookie', async () => {
  const { cookie } = await signIn(partner, { secret: demoSecret })
  for (const bad of ['partner_session=', 'partner_session=x', `${cookie}x`, `__Host-${cookie}`, `x${cookie}`])
    assert.equal((await withCookie(partner, bad).get('/partner')).status, 401, bad)
  assert.equal((await withCookie(partner, `a=b; ${cookie} ; c=d`).get('/partner')).status, 200)
  assert.equal((await withCookie(partner, cookie).get('/partner', { token: 'psk_wrong' })).status, 401)
  const basic = { headers: { authorization: 'Basic eDp5' } }
  assert.equal((await withCookie(partner, cookie).get('/partner', basic)).status, 401)
})

test('signing out ends the session and clears the cookie', async () => {
  const browser = await signIn(partner, { secret: demoSecret })
  const other = await signIn(partner, { secret: demoSecret })
  const out = await browser.delete('/console/session')
  assert.equal(out.status, 204)
  const { name, token, attributes } = readSetCookie(out)
  assert.deepEqual([name, token], ['partner_session', ''])
  assert.deepEqual(attributes, ['HttpOnly', 'Max-Age=0', 'Path=/', 'SameSite=Strict'])
  for (const path of ['/console/session', '/partner']) assert.equal((await browser.get(path)).status, 401)
  assert.equal((await other.get('/partner')).status, 200, 'another session of the key goes on')
})

test('the address of a session’s own is for sessions only', async () => {
  for (const method of ['GET', 'DELETE'])
    assert.equal((await partner.call(method, '/console/session')).status, 401, `${method} with the key itself`)
})

test('a session dies with its key, with its partner’s suspension, and outside of its key’s addresses', async () => {
  const made = (await operator.post('/partners', { name: 'Short-lived' })).body
  const first = await newKey(service, made.id, ['partner:read'])
  const browser = await signIn(partner, { secret: first.secret })
  assert.equal((await browser.get('/partner')).status, 200)
  await operator.patch(`/partners/${made.id}`, { state: 'suspended' })
  assert.equal((await browser.get('/partner')).status, 403)
  assert.equal((await partner.post('/console/session', { secret: first.secret }, { token: null })).status, 403)
  await operator.patch(`/partners/${made.id}`, { state: 'active' })
  assert.equal((await browser.get('/partner')).status, 200)
  await operator.delete(`/partners/${made.id}/keys/${first.id}`)
  for (const path of ['/partner', '/console/session']) assert.equal((await browser.get(path)).status, 401)
})

test('a session counts only from the addresses of its key', async (t) => {
  const proxied = await startTestService(t, { environment: { TRUSTED_PROXIES: '127.0.0.1' } })
  const wanted = { name: 'listed', scopes: ['partner:read'], allowed_cidrs: ['203.0.113.0/24'] }
  const { body } = await proxied.operator.post(`/partners/${proxied.demoPartnerId}/keys`, wanted)
  const from = (address: string) => ({ headers: { 'x-forwarded-for': address } })
  const browser = await signIn(proxied.partner, { secret: body.secret }, from('203.0.113.7'))
  assert.equal((await browser.get('/partner', from('203.0.113.8'))).status, 200)
  assert.equal((await browser.get('/partner', from('192.0.2.1'))).status, 403)
})

test('a session ends after twelve hours, or with its key if that is sooner', async (t) => {
  t.after(() => {
    now = Date.now()
  })
  const begin = now
  const hours = (count: number) => begin + count * 3_600_000
  const wanted = { name: 'brief', scopes: ['partner:read'], expires_at: new Date(hours(2)).toISOString() }
  const { body: brief } = await operator.post(`/partners/${demoPartnerId}/keys`, wanted)
  const long = await signIn(partner, { secret: demoSecret })
  const short = await signIn(partner, { secret: brief.secret })
  assert.match(long.signedIn.headers.getSetCookie()[0]!, /Max-Age=43200;/)
  assert.match(short.signedIn.headers.getSetCookie()[0]!, /Max-Age=7(200|199);/)
  now = hours(2) - 2_000
  assert.deepEqual([(await long.get('/partner')).status, (await short.get('/partner')).status], [200, 200])
  now = hours(2) + 2_000
  assert.deepEqual([(await long.get('/partner')).status, (await short.get('/partner')).status], [200, 401])
  now = hours(12) - 2_000
  assert.equal((await long.get('/partner')).status, 200)
  now = hours(12) + 2_000
  assert.equal((await long.get('/partner')).status, 401)
})

test('signing in is limited by address, as every call without a credential', async (t) => {
  const limited = await startTestService(t, { environment: { RATE_LIMIT: '1:3' } })
  const statuses: number[] = []
  for (let i = 0; i < 30 && !statuses.includes(429); i++)
    statuses.push((await limited.partner.post('/console/session', { secret: 'psk_x' }, { token: null })).status)
  assert.deepEqual([statuses[0], statuses.at(-1)], [401, 429])
})

test('neither a session’s token nor a link’s is in the database, only their hashes', async (t) => {
  const restartable = await startRestartable(t)
  const { partner, demoSecret: secret } = restartable.service
  const { token } = await signIn(partner, { secret })
  const link = new URL((await partner.post('/console/links', {})).body.url).hash.slice('#link='.length)
  const { sessions, links } = await restartable.meanwhile(async (db) => ({
    sessions: (await db.query<{ tokenHash: Uint8Array }>('select * from console_sessions')).rows,
    links: (await db.query<{ tokenHash: Uint8Array }>('select * from console_links')).rows,
  }))
  for (const [rows, own] of [
    [sessions, token],
    [links, link],
  ] as const) {
    assert.equal(rows.length, 1)
    assert.ok(!JSON.stringify(rows).includes(own))
    assert.equal(Buffer.from(rows[0]!.tokenHash).toString('hex'), hash('sha256', own))
  }
})

test('signing in and out is in the audit log', async () => {
  const { id, secret } = await key(['partner:read'])
  const browser = await signIn(partner, { secret })
  await browser.delete('/console/session')
  const { entries } = (await operator.get(`/audit-log?partner_id=${demoPartnerId}&limit=2`)).body
  const told = entries.map((each: Record<string, unknown>) => [each.action, each.target_id])
  assert.deepEqual(told, [
    ['console.signed_out', id],
    ['console.signed_in', id],
  ])
})

if (databaseKind === 'postgres') {
  const startTwo = async (t: { after(work: () => Promise<void> | void): void }) => {
    const database = await createDatabase()
    const here = await startTestService(t, { database })
    const there = await startTestService(t, { database })
    t.after(() => database.remove())
    return { here, there }
  }
  const cases: [what: string, end: (here: TestService, keyId: string, cookie: string) => Promise<unknown>][] = [
    ['its key is revoked', (here, id) => here.operator.delete(`/partners/${here.demoPartnerId}/keys/${id}`)],
    ['it is signed out', (here, _id, cookie) => withCookie(here.partner, cookie).delete('/console/session')],
  ]
  for (const [what, end] of cases) {
    test(`a session begun on one process holds on another, and within a second no more once ${what}`, async (t) => {
      const { here, there } = await startTwo(t)
      const { id, secret } = await newKey(here, here.demoPartnerId, ['partner:read'])
      const { cookie } = await signIn(here.partner, { secret })
      const browser = withCookie(there.partner, cookie)
      assert.equal((await browser.get('/partner')).status, 200)
      await assertHonoured(
        () => end(here, id, cookie) as ReturnType<typeof browser.get>,
        () => browser.get('/partner'),
        ({ status }) => status === 401,
      )
    })
  }
}
