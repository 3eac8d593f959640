// One Idempotency-Key, one effect: under races, across processes, and with a kill -9 in between.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { until } from '../lifecycle/run.ts'
import { type ApiClient, type ApiReply, createClient } from '../support/client.ts'
import { createDatabase, databaseKind } from '../support/database.ts'
import { spawnService, startTestService } from '../support/service.ts'

const service = await startTestService({ after })
const { operator, partner, demoPartnerId } = service
const withKey = (key: string) => ({ headers: { 'idempotency-key': key } })
const fifty = <T>(make: (n: number) => T): T[] => Array.from({ length: 50 }, (_, n) => make(n))

async function partnersNamed(client: ApiClient, name: string): Promise<number> {
  let found = 0
  for (let cursor = ''; ; ) {
    const { body } = await client.get(`/partners?limit=100${cursor}`)
    found += body.partners.filter((each: { name: string }) => each.name === name).length
    if (body.next_cursor === null) return found
    cursor = `&cursor=${encodeURIComponent(body.next_cursor)}`
  }
}

async function keysNamed(name: string): Promise<number> {
  const { body } = await operator.get(`/partners/${demoPartnerId}/keys?limit=100`)
  return body.keys.filter((each: { name: string }) => each.name === name).length
}

function assertOneEffect(replies: readonly ApiReply[]): void {
  assert.deepEqual([...new Set(replies.map((each) => `${each.status} ${each.text}`))].length, 1, replies[0]!.text)
  assert.equal(replies[0]!.status, 201)
  const first = replies.filter((each) => each.headers.get('idempotent-replayed') === null)
  assert.equal(first.length, 1)
  for (const each of replies) if (each !== first[0]) assert.equal(each.headers.get('idempotent-replayed'), 'true')
}

test('50 simultaneous requests with one key have one effect and one answer', async () => {
  const replies = await Promise.all(fifty(() => operator.post('/partners', { name: 'Raced' }, withKey('raced'))))
  assertOneEffect(replies)
  assert.equal(await partnersNamed(operator, 'Raced'), 1)
  const { body: log } = await operator.get(`/audit-log?partner_id=${replies[0]!.body.id}`)
  assert.deepEqual(
    log.entries.map((each: { action: string }) => each.action),
    ['partner.created'],
  )
})

test('the same key with another body or address is refused with 409 and changes nothing', async () => {
  assert.equal((await operator.post('/partners', { name: 'First' }, withKey('reused'))).status, 201)
  const otherBody = await operator.post('/partners', { name: 'Second' }, withKey('reused'))
  assert.deepEqual([otherBody.status, otherBody.body.error_code], [409, 'conflict'])
  const token = { name: 'reused', roles: ['read'] }
  assert.equal((await operator.post('/tokens', token, withKey('reused'))).status, 409)
  assert.equal(await partnersNamed(operator, 'Second'), 0)
  const { body } = await operator.get('/tokens')
  assert.ok(!body.tokens.some((each: { name: string }) => each.name === 'reused'))

  const mixed = await Promise.all(
    fifty((n) => operator.post('/partners', { name: n % 2 ? 'Odd' : 'Even' }, withKey('mixed'))),
  )
  const made = (await partnersNamed(operator, 'Odd')) + (await partnersNamed(operator, 'Even'))
  assert.equal(made, 1)
  assert.equal(mixed.filter(({ status }) => status === 201).length, 25)
  assert.equal(mixed.filter(({ status }) => status === 409).length, 25)
})

test('a reply that holds a secret is never stored: repeating the request is 409 and makes no second key', async () => {
  const wanted = { name: 'secretive', scopes: ['partner:read'] }
  const path = `/partners/${demoPartnerId}/keys`
  const replies = await Promise.all(fifty(() => operator.post(path, wanted, withKey('secretive'))))
  const created = replies.filter(({ status }) => status === 201)
  assert.equal(created.length, 1)
  assert.equal((await partner.get('/partner', { token: created[0]!.body.secret })).status, 200)
  for (const reply of replies) {
    if (reply === created[0]) continue
    assert.equal(reply.status, 409)
    assert.ok(!reply.text.includes(created[0]!.body.secret))
    assert.match(reply.body.error_msg, /carried out already.+secret/)
  }
  assert.equal(await keysNamed('secretive'), 1)
  const own = await Promise.all(fifty(() => partner.post('/partner/keys', { ...wanted, name: 'own' }, withKey('own'))))
  assert.equal(own.filter(({ status }) => status === 201).length, 1)
  assert.equal(await keysNamed('own'), 1)
})

test('a request that failed is not remembered: corrected or repeated, the same key works', async () => {
  const refused = await operator.post('/partners', { name: '' }, withKey('mended'))
  assert.equal(refused.status, 400)
  const path = `/partners/${demoPartnerId}/keys`
  const expired = { name: 'mended', scopes: ['partner:read'], expires_at: '2020-01-01T00:00:00Z' }
  assert.equal((await operator.post(path, expired, withKey('mended'))).status, 400) // refused inside its transaction
  const mended = await operator.post('/partners', { name: 'Mended' }, withKey('mended'))
  assert.equal(mended.status, 201)
  assert.equal(mended.headers.get('idempotent-replayed'), null)
})

test('keys are scoped to their owner: another operator or partner with the same key is independent', async () => {
  const { body: colleague } = await operator.post('/tokens', { name: 'colleague', roles: ['admin'] })
  const other = createClient(service.operatorUrl, '/operator/v1', colleague.secret)
  const replies = await Promise.all(
    [operator, other].map((client) => client.post('/partners', { name: 'Scoped' }, withKey('scoped'))),
  )
  for (const { status, headers } of replies) {
    assert.equal(status, 201)
    assert.equal(headers.get('idempotent-replayed'), null)
  }
  assert.equal(await partnersNamed(operator, 'Scoped'), 2)

  const wanted = { name: 'scoped', scopes: ['keys:write'] }
  const { body: foreignKey } = await operator.post(`/partners/${replies[0]!.body.id}/keys`, wanted)
  const foreign = createClient(service.url, '/v1', foreignKey.secret)
  assert.equal((await partner.post('/partner/keys', wanted, withKey('scoped'))).status, 201)
  assert.equal((await foreign.post('/partner/keys', wanted, withKey('scoped'))).status, 201)
})

test('the prefix does not matter: a request repeated without /v1 is the same request', async () => {
  const wanted = { name: 'prefixed', scopes: ['partner:read'] }
  const bare = createClient(service.url, '', service.demoSecret)
  assert.equal((await partner.post('/partner/keys', wanted, withKey('prefixed'))).status, 201)
  assert.match((await bare.post('/partner/keys', wanted, withKey('prefixed'))).body.error_msg, /carried out already/)
})

test('kill -9 while 50 requests race, then the same again: one effect, whichever moment it was', async (t) => {
  const database = await createDatabase()
  let current = await spawnService(database)
  t.after(async () => {
    await current.kill()
    await database.remove()
  })
  let carriedOut = 0
  const rounds = databaseKind === 'embedded' ? 4 : 10 // a start on the embedded database takes seconds
  for (let round = 0; round < rounds; round++) {
    const body = { name: `Round ${round}` }
    const race = () => fifty(() => current.operator.post('/partners', body, withKey(`round-${round}`)))
    await current.operator.get('/partners') // connections are open, or the kill would come before the requests
    const cut = race().map((each) => each.catch(() => undefined))
    await sleep(Math.random() * 60)
    await current.kill()
    const answered = (await Promise.all(cut)).filter((each) => each !== undefined)
    current = await spawnService(database)
    const replies = await Promise.all(race())
    const replayed = replies.every((each) => each.headers.get('idempotent-replayed') === 'true')
    if (!replayed) assertOneEffect(replies)
    else carriedOut++
    for (const each of answered) {
      assert.equal(each.text, replies[0]!.text, 'what was answered before the kill is the answer after it')
      assert.ok(replayed)
    }
    for (const each of replies) assert.equal(`${each.status} ${each.text}`, `201 ${replies[0]!.text}`)
    assert.equal(await partnersNamed(current.operator, body.name), 1)
  }
  t.diagnostic(`the kill came after the effect in ${carriedOut} of ${rounds} rounds`)
})

if (databaseKind === 'postgres') {
  test('while many wait for one key, other requests are answered', async (t) => {
    const sql = new pg.Client({ connectionString: service.database.environment.DATABASE_URL })
    await sql.connect()
    t.after(() => sql.end())
    // As if another process were at work on the key: its row is there, and its transaction has not ended.
    await sql.query('begin')
    await sql.query(
      `insert into idempotency_keys (owner, key, request_hash, status) values ('OPERATOR_TOKEN', 'crowd', '', 0)`,
    )
    const crowd = fifty(() => operator.post('/partners', { name: 'Crowd' }, withKey('crowd')))
    let waiting = true
    void Promise.race(crowd).then(() => (waiting = false))
    await until('the crowd waits', async () => {
      await sql.query('select pg_stat_clear_snapshot()')
      const { rows } = await sql.query(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      )
      return rows.length > 0
    })
    const others = await Promise.all(
      fifty((n) => operator.post('/partners', { name: `Bystander ${n}` }, withKey(`bystander-${n}`))),
    )
    for (const { status, text } of others) assert.equal(status, 201, text)
    assert.ok(waiting)
    await sql.query('rollback')
    assertOneEffect(await Promise.all(crowd))
    assert.equal(await partnersNamed(operator, 'Crowd'), 1)
  })

  test('50 simultaneous requests with one key on two processes have one effect and one answer', async (t) => {
    const database = await createDatabase()
    const processes = await Promise.all([spawnService(database), spawnService(database)])
    t.after(async () => {
      await Promise.all(processes.map((each) => each.kill()))
      await database.remove()
    })
    for (let round = 0; round < 5; round++) {
      const body = { name: `Shared ${round}` }
      const replies = await Promise.all(
        fifty((n) => processes[n % 2]!.operator.post('/partners', body, withKey(`shared-${round}`))),
      )
      assertOneEffect(replies)
      assert.equal(await partnersNamed(processes[0]!.operator, body.name), 1)
    }
  })

  test('kill -9 of one of two processes in the race leaves one effect', async (t) => {
    const database = await createDatabase()
    const survivor = await spawnService(database)
    let victim = await spawnService(database)
    t.after(async () => {
      await Promise.all([survivor.kill(), victim.kill()])
      await database.remove()
    })
    for (let round = 0; round < 5; round++) {
      const body = { name: `Split ${round}` }
      await Promise.all([victim, survivor].map((each) => each.operator.get('/partners')))
      const replies = fifty((n) =>
        (n % 2 ? victim : survivor).operator.post('/partners', body, withKey(`split-${round}`)).catch(() => undefined),
      )
      await sleep(Math.random() * 60)
      await victim.kill()
      const answered = (await Promise.all(replies)).filter((each) => each !== undefined)
      assert.ok(answered.length >= 25)
      assert.equal(new Set(answered.map((each) => `${each.status} ${each.text}`)).size, 1)
      assert.equal(answered[0]!.status, 201)
      assert.equal(await partnersNamed(survivor.operator, body.name), 1)
      victim = await spawnService(database)
    }
    await until('both serve', async () => (await victim.partner.get('/partner')).status === 200)
  })
}
