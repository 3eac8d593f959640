// PostgreSQL killed, hung, and back again: callers get 503 at once or soon, never a stale answer and never silence, and the service
// recovers by itself.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import type { ApiReply } from '../support/client.ts'
import { databaseKind, type TestDatabase } from '../support/database.ts'
import { type PostgresServer, startPostgres } from '../support/postgres.ts'
import { type ServiceProcess, spawnService } from '../support/service.ts'
import { run, until } from './run.ts'

const freshForMs = 1_000 // how old an answer from memory may be
const patienceMs = 60_000 // longer than anything the service waits for

async function start(t: TestContext): Promise<{ server: PostgresServer; service: ServiceProcess }> {
  const server = await startPostgres()
  const dataDir = mkdtempSync(join(tmpdir(), 'partner-service-test-'))
  const database: TestDatabase = {
    environment: { DATA_DIR: dataDir, DATABASE_URL: server.url() },
    dataDir,
    remove: async () => rmSync(dataDir, { recursive: true, force: true }),
  }
  const service = await spawnService(database)
  t.after(async () => {
    await service.kill()
    await server.remove()
    await database.remove()
  })
  return { server, service }
}

// A call that fails the test when it is never answered.
async function answered(call: Promise<ApiReply>): Promise<ApiReply> {
  const timeout = new AbortController()
  try {
    return await Promise.race([
      call,
      sleep(patienceMs, undefined, { signal: timeout.signal }).then(() => assert.fail('a call was never answered')),
    ])
  } finally {
    timeout.abort()
  }
}

function assertUnavailable({ status, body, headers }: ApiReply): void {
  assert.equal(status, 503, JSON.stringify(body))
  assert.equal(body.error_code, 'service_unavailable')
  assert.match(headers.get('retry-after') ?? '', /^\d+$/)
}

const probe = (url: string, path: string) => fetch(url + path, { signal: AbortSignal.timeout(patienceMs) })

async function assertRecovers(service: ServiceProcess): Promise<void> {
  await until('it is ready again', async () => (await probe(service.url, '/readyz')).status === 200)
  await until('partners are answered again', async () => (await service.partner.get('/partner')).status === 200)
  assert.equal((await service.operator.get('/partners')).status, 200)
  assert.equal(service.child.exitCode, null)
  assert.equal(service.child.signalCode, null)
}

// The server's processes, found from one of its backends: frozen and thawed together.
async function freezer(server: PostgresServer): Promise<{ freeze(): void; thaw(): void }> {
  const client = new pg.Client({ connectionString: server.url() })
  await client.connect()
  const { rows } = await client.query('select pg_backend_pid() as pid')
  const postmaster = Number(/PPid:\s+(\d+)/.exec(readFileSync(`/proc/${rows[0].pid}/status`, 'utf8'))![1])
  await client.end()
  const signal = (name: NodeJS.Signals) => {
    const children = readFileSync(`/proc/${postmaster}/task/${postmaster}/children`, 'utf8').trim().split(/\s+/)
    for (const pid of [postmaster, ...children.map(Number)]) process.kill(pid, name)
  }
  return { freeze: () => signal('SIGSTOP'), thaw: () => signal('SIGCONT') }
}

if (databaseKind === 'postgres') {
  test('a database killed under load gives 503 until it is back, then everything acknowledged is there', async (t) => {
    const { server, service } = await start(t)
    const { body: partner } = await service.operator.post('/partners', { name: 'Busy' })
    const { body: configuration } = await service.operator.get(`/partners/${partner.id}/configuration`)
    const path = `/partners/${partner.id}/configuration`
    const replies: { begunAt: number; reply: ApiReply }[] = []
    const written: number[] = []
    let loading = true
    const repeat = async (call: () => Promise<ApiReply>, onReply?: (reply: ApiReply) => void) => {
      while (loading) {
        const begunAt = performance.now()
        const reply = await answered(call())
        replies.push({ begunAt, reply })
        onReply?.(reply)
        await sleep(5)
      }
    }
    const load = Promise.all([
      ...[1, 2, 3].map(() => repeat(() => service.partner.get('/partner'))),
      ...[1, 2, 3].map(() => repeat(() => service.operator.get('/partners'))),
      ...[1, 2, 3, 4, 5, 6].map(() =>
        repeat(
          () => service.operator.put(path, configuration),
          ({ status, headers }) => {
            if (status === 200) written.push(Number(JSON.parse(headers.get('etag')!)))
          },
        ),
      ),
    ])
    await until('writes are under way', async () => written.length > 50)
    await server.kill()
    const killedAt = performance.now()
    await sleep(3_000)
    const readyz = await probe(service.url, '/readyz')
    const livez = await probe(service.url, '/livez')
    assert.deepEqual([readyz.status, livez.status], [503, 200])
    assert.equal(((await readyz.json()) as { error_code: string }).error_code, 'service_unavailable')
    assertUnavailable(
      await answered(service.partner.get('/partner', { token: `psk_${'0'.repeat(12)}_${'0'.repeat(32)}` })),
    )
    loading = false
    await load

    for (const { reply } of replies) assert.ok([200, 503].includes(reply.status), JSON.stringify(reply.body))
    const afterwards = replies.filter(({ begunAt }) => begunAt > killedAt + freshForMs)
    assert.ok(afterwards.length > 0)
    for (const { reply } of afterwards) assertUnavailable(reply)

    await server.start()
    await assertRecovers(service)
    const { body: now } = await service.operator.get(`/partners/${partner.id}`)
    assert.ok(now.configuration_version >= Math.max(...written))
    assert.equal(new Set(written).size, written.length)
  })

  test('a database that hangs gives 503 rather than silence, and the service recovers once it goes on', async (t) => {
    const { server, service } = await start(t)
    const { freeze, thaw } = await freezer(server)
    assert.equal((await service.partner.get('/partner')).status, 200)
    freeze()
    try {
      await sleep(freshForMs)
      const calls = await Promise.all([
        ...[1, 2, 3].map(() => answered(service.partner.get('/partner'))),
        ...Array.from({ length: 20 }, () => answered(service.operator.get('/partners'))),
        ...[1, 2, 3].map((n) => answered(service.operator.post('/partners', { name: `Frozen ${n}` }))),
      ])
      for (const call of calls) assertUnavailable(call)
      assert.equal((await probe(service.url, '/readyz')).status, 503)
      assert.equal((await probe(service.operatorUrl, '/readyz')).status, 503)
      assert.equal((await probe(service.url, '/livez')).status, 200)
    } finally {
      thaw()
    }
    await assertRecovers(service)
  })

  test('a commit that got no answer is reported as unknown, and repeating it with its Idempotency-Key has one effect', async (t) => {
    const { server, service } = await start(t)
    const { freeze, thaw } = await freezer(server)
    const client = new pg.Client({ connectionString: server.url() })
    client.on('error', () => {}) // the server goes first
    await client.connect()
    t.after(() => client.end().catch(() => {}))
    // Holds every commit of a new partner for a while, which leaves time to freeze the server in the middle of it.
    await client.query(`
      create function linger() returns trigger language plpgsql as $$ begin perform pg_sleep(2); return null; end $$;
      create constraint trigger linger after insert on partners deferrable initially deferred
        for each row execute function linger()`)
    const create = () =>
      answered(
        service.operator.post('/partners', { name: 'Once' }, { headers: { 'idempotency-key': 'unknown-outcome' } }),
      )
    const first = create()
    await until('the commit is under way', async () => {
      const { rows } = await client.query(
        `select from pg_stat_activity where query = 'commit' and wait_event = 'PgSleep'`,
      )
      return rows.length > 0
    })
    freeze()
    try {
      const reply = await first
      assertUnavailable(reply)
      assert.match(reply.body.error_msg, /outcome .+ not known .+ same Idempotency-Key/)
    } finally {
      thaw()
    }
    const reply = await until('the retry is answered', async () => {
      const retried = await create()
      return retried.status === 503 ? undefined : retried
    })
    assert.equal(reply.status, 201)
    assert.equal(reply.headers.get('idempotent-replayed'), 'true')
    const { body } = await service.operator.get('/partners')
    assert.equal(body.partners.filter((each: { name: string }) => each.name === 'Once').length, 1)
  })

  test('a stop ends in order also while the database hangs', async (t) => {
    const { server, service } = await start(t)
    const { freeze, thaw } = await freezer(server)
    assert.equal((await service.partner.get('/partner')).status, 200)
    freeze()
    try {
      const call = answered(service.operator.get('/partners'))
      await sleep(200)
      const code = await Promise.race([service.stop(), sleep(patienceMs, 'it never ended', { ref: false })])
      assert.equal(code, 0)
      assertUnavailable(await call)
    } finally {
      thaw()
    }
  })

  test('a primary that has become a standby gives 503 to writers, and they are served again once there is a primary', async (t) => {
    const { server, service } = await start(t)
    const client = new pg.Client({ connectionString: server.url() })
    client.on('error', () => {}) // the server goes first
    await client.connect()
    t.after(() => client.end().catch(() => {}))
    const changeRole = async (readOnly: 'on' | 'off') => {
      await client.query(`alter database postgres set default_transaction_read_only = ${readOnly}`)
    }
    await changeRole('on')
    const others = `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'partner-service'`
    await client.query(others) // connections that the service holds break, as they do in a failover
    assertUnavailable(
      await until('new connections are in use', async () => {
        const reply = await answered(service.operator.post('/partners', { name: 'Too early' }))
        return reply.status === 201 ? undefined : reply
      }),
    )
    assert.equal((await answered(service.operator.get('/partners'))).status, 200)
    await client.query('set default_transaction_read_only = off')
    await changeRole('off')
    await until('writers are served again', async () => {
      const { status } = await answered(service.operator.post('/partners', { name: 'In time' }))
      assert.ok([201, 503].includes(status), `answered ${status}`)
      return status === 201
    })
    await assertRecovers(service)
  })

  test('a start without a database fails with a message that says so', async (t) => {
    const dataDir = mkdtempSync(join(tmpdir(), 'partner-service-test-'))
    t.after(() => rmSync(dataDir, { recursive: true, force: true }))
    const environment = { DATA_DIR: dataDir, DATABASE_URL: 'postgres://postgres@localhost:9/nowhere' }
    const { ended, log } = run({ environment, dataDir, remove: async () => {} }, ['serve'])
    assert.equal(await ended, 1)
    assert.match(log(), /database.+ECONNREFUSED/)
  })
}
