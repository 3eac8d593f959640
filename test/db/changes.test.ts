// What one process changes, every process honours within a second: the promise that makes caches safe.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { until } from '../lifecycle/run.ts'
import { createClient } from '../support/client.ts'
import { createDatabase, databaseKind } from '../support/database.ts'
import { assertHonoured, withinMs } from '../support/honoured.ts'
import { startTestService, type TestService } from '../support/service.ts'

type After = { after(work: () => Promise<void> | void): void }

async function startTwo(t: After): Promise<{ here: TestService; there: TestService; sql: pg.Client }> {
  const database = await createDatabase()
  const sql = new pg.Client({ connectionString: database.environment.DATABASE_URL })
  await sql.connect()
  const here = await startTestService(t, { database })
  const there = await startTestService(t, { database })
  t.after(async () => {
    await sql.end()
    await database.remove()
  })
  return { here, there, sql }
}

async function createKey({ operator, demoPartnerId }: TestService): Promise<{ id: string; secret: string }> {
  const wanted = { name: 'test', scopes: ['partner:read'] }
  const { status, body } = await operator.post(`/partners/${demoPartnerId}/keys`, wanted)
  assert.equal(status, 201)
  return body
}

test('the process that makes a change honours it at once', async (t) => {
  const service = await startTestService(t)
  const { operator, partner, demoPartnerId } = service
  for (let round = 0; round < 10; round++) {
    const key = await createKey(service)
    assert.equal((await partner.get('/partner', { token: key.secret })).status, 200)
    assert.equal((await operator.delete(`/partners/${demoPartnerId}/keys/${key.id}`)).status, 204)
    assert.equal((await partner.get('/partner', { token: key.secret })).status, 401)

    const { body: configuration } = await operator.get(`/partners/${demoPartnerId}/configuration`)
    await operator.put(`/partners/${demoPartnerId}/configuration`, { ...configuration, name: `Round ${round}` })
    assert.equal((await partner.get('/partner')).body.name, `Round ${round}`)
  }
})

if (databaseKind === 'postgres') {
  test('a key revoked on one process is refused on every other within a second', async (t) => {
    const { here, there } = await startTwo(t)
    const key = await createKey(here)
    await assertHonoured(
      () => here.operator.delete(`/partners/${here.demoPartnerId}/keys/${key.id}`),
      () => there.partner.get('/partner', { token: key.secret }),
      ({ status }) => status === 401,
    )
    assert.equal((await there.partner.get('/partner')).status, 200)
  })

  test('a key that a partner revokes itself is refused on every other process within a second', async (t) => {
    const { here, there } = await startTwo(t)
    const key = await createKey(here)
    await assertHonoured(
      () => here.partner.delete(`/partner/keys/${key.id}`),
      () => there.partner.get('/partner', { token: key.secret }),
      ({ status }) => status === 401,
    )
  })

  test('a key created on one process is accepted on every other within a second, though it was refused there before', async (t) => {
    const { here, there, sql } = await startTwo(t)
    const { id, secret } = await createKey(here)
    const hidden = await sql.query('delete from api_keys where id = $1 returning *', [id])
    const [row] = hidden.rows
    await assertHonoured(
      async () => {
        await sql.query('insert into api_keys select * from json_populate_record(null::api_keys, $1)', [
          JSON.stringify({ ...row, secret_hash: `\\x${row.secret_hash.toString('hex')}` }),
        ])
        return here.operator.post(`/partners/${here.demoPartnerId}/keys`, { name: 'other', scopes: ['partner:read'] })
      },
      () => there.partner.get('/partner', { token: secret }),
      ({ status }) => status === 200,
    )
  })

  test('a suspended partner is refused, and an activated one served again, on every process within a second', async (t) => {
    const { here, there } = await startTwo(t)
    for (const [state, status] of [['suspended', 403] as const, ['active', 200] as const]) {
      await assertHonoured(
        () => here.operator.patch(`/partners/${here.demoPartnerId}`, { state }),
        () => there.partner.get('/partner'),
        (reply) => reply.status === status,
      )
    }
  })

  test('a configuration written on one process is served by every other within a second', async (t) => {
    const { here, there } = await startTwo(t)
    const path = `/partners/${here.demoPartnerId}/configuration`
    const { body: configuration } = await here.operator.get(path)
    await assertHonoured(
      () => here.operator.put(path, { ...configuration, name: 'Renamed' }),
      () => there.partner.get('/partner'),
      ({ body }) => body.name === 'Renamed',
    )
  })

  test('an operator token revoked on one process is refused on every other within a second', async (t) => {
    const { here, there } = await startTwo(t)
    const { body: token } = await here.operator.post('/tokens', { name: 'leaver', roles: ['read'] })
    const leaver = createClient(there.operatorUrl, '/operator/v1', token.secret)
    await assertHonoured(
      () => here.operator.delete(`/tokens/${token.id}`),
      () => leaver.get('/partners'),
      ({ status }) => status === 401,
    )
  })

  test('a database whose history changed (failover, restore) empties the caches instead of hiding changes from them', async (t) => {
    const { here, there, sql } = await startTwo(t)
    const key = await createKey(here)
    for (let i = 0; i < 5; i++) await createKey(here)
    await sleep(2 * withinMs) // both processes have heard of all that by now
    await assertHonoured(
      async () => {
        // A standby takes over that had not heard the last changes; others take their numbers, a revocation among them.
        await sql.query(`
          begin;
          update change_counter set version = version - 3;
          delete from changes where version > (select version from change_counter);
          update api_keys set revoked_at = now() where id = '${key.id}';
          insert into changes (version, subject) select version + 1, '${here.demoPartnerId}' from change_counter;
          insert into changes (version, subject) select version + n, 'operators' from change_counter, generate_series(2, 6) n;
          update change_counter set version = version + 6;
          commit`)
        return here.operator.get('/partners')
      },
      () => there.partner.get('/partner', { token: key.secret }),
      ({ status }) => status === 401,
    )
  })

  test('writers stuck behind a lock do not keep other partners from being served, nor revocations from being heard', async (t) => {
    const { here, there, sql } = await startTwo(t)
    const { body: leaving } = await here.operator.post('/partners', { name: 'Leaving' })
    const { body: configuration } = await here.operator.get(`/partners/${leaving.id}/configuration`)
    const wanted = { name: 'leaver', scopes: ['partner:read'] }
    const { body: leaver } = await here.operator.post(`/partners/${leaving.id}/keys`, wanted)
    const callAsLeaver = () => there.partner.get('/partner', { token: leaver.secret })
    for (let i = 0; i < 3; i++)
      assert.equal((await callAsLeaver()).status + (await there.partner.get('/partner')).status, 400)

    const { body: stuck } = await here.operator.post('/partners', { name: 'Stuck' })
    await sql.query('begin')
    await sql.query('select from partners where id = $1 for update', [stuck.id])
    const writes = Array.from({ length: 30 }, () =>
      there.operator.put(`/partners/${stuck.id}/configuration`, configuration),
    )
    await until('every connection for ordinary work waits for the lock', async () => {
      await sql.query('select pg_stat_clear_snapshot()') // or the transaction would see the same picture each time
      const { rows } = await sql.query(
        `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      )
      return rows.length >= 9
    })
    assert.equal((await here.operator.delete(`/partners/${leaving.id}/keys/${leaver.id}`)).status, 204)
    const revokedAt = performance.now()
    let waiting = true
    void Promise.race(writes).then(() => (waiting = false))
    let served = 0 // from memory that must have been confirmed in the meantime
    while (waiting) {
      const begunAt = performance.now()
      const { status } = await there.partner.get('/partner')
      const ready = await fetch(`${there.url}/readyz`)
      if (waiting && begunAt > revokedAt + withinMs && status === 200 && ready.status === 200) served++
      await sleep(10)
    }
    assert.ok(served > 0)
    assert.notEqual((await callAsLeaver()).status, 200)
    await sql.query('rollback')
    for (const write of writes) assert.ok([200, 503].includes((await write).status))
    await until('the service is as before', async () => (await callAsLeaver()).status === 401)
  })
}
