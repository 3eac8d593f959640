// SIGTERM in the middle of delivering: what can finish is finished and settled, nothing is begun any more; also when a request is still
// to be answered, and when the database is away. And the other way to leave: what a dead worker had is sent again. Costs about 50 s.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { subscribe } from '../support/checker-publishers.ts'
import { startFleet } from '../support/checker-workers.ts'
import { connectTo } from '../support/database.ts'
import { eventually } from '../support/endpoint.ts'
import { publishMany } from '../support/partner.ts'
import { startPostgres } from '../support/postgres.ts'
import { type Arrival, startReceiver } from '../support/receiver.ts'
import { watchSenders } from '../support/receiver-senders.ts'
import { type ServiceProcess, spawnService } from '../support/service.ts'

const actions = ['order-closed'] as const

// When the service itself noted that it was asked to stop.
function stoppingSince(service: ServiceProcess): number {
  const line = service
    .log()
    .split('\n')
    .find((each) => each.includes('"msg":"stopping"'))
  return Date.parse(JSON.parse(line!).time)
}

test('SIGTERM lets every attempt under way finish, and none begin', async (t) => {
  const receiver = await startReceiver(t, { delayMs: [2_000, 3_000] })
  const fleet = await startFleet(t, 0)
  const service = await spawnService(fleet.database, { ROLE: 'all' })
  t.after(service.kill)
  const partnerId = await subscribe(fleet.api, receiver, actions, 4)
  const db = await connectTo(t, fleet.databaseUrl)
  await publishMany(fleet.api, partnerId, 40)
  await eventually(async () => (await receiver.arrivals()).length >= 12, 'much to be under way, and more to wait')
  // A request that takes its time: until it is answered, the process is still there.
  await receiver.behave({ delayMs: [4_000, 4_000] })
  const { body } = await service.partner.get('/webhooks/subscriptions')
  const testing = service.partner.post(`/webhooks/subscriptions/${body.subscriptions[0].id}/test`)
  const stored = new Set((await db.query('select id from events')).rows.map((row) => row.id))
  const isTest = (each: Arrival) => !stored.has(each.eventId)
  await eventually(async () => (await receiver.arrivals()).some(isTest), 'the test event to be under way')
  const exit = await service.stop()
  assert.equal(exit, 0)
  assert.equal((await testing).body.delivered, true, 'the request was answered')

  const arrivals = (await receiver.arrivals()).slice()
  const since = stoppingSince(service)
  assert.deepEqual(
    arrivals.filter((each) => each.signedAt > since),
    [],
    'nothing was begun after the signal',
  )
  assert.ok(
    arrivals.some((each) => each.at < since && each.endedAt! > since),
    'something was under way',
  )
  assert.deepEqual(
    arrivals.filter((each) => each.status !== 200),
    [],
    'nothing was cut off',
  )
  const { rows: after } = await db.query<{ id: string; state: string; tries: number }>(
    'select id, state, tries from events',
  )
  const sent = new Set(arrivals.map((each) => each.eventId))
  for (const { id, state, tries } of after) {
    assert.deepEqual(
      { id, state, tries },
      sent.has(id) ? { id, state: 'completed', tries: 1 } : { id, state: 'pending', tries: 0 },
    )
  }
  assert.ok(
    after.some(({ state }) => state === 'pending'),
    'something was left for others',
  )
  const { rows: owned } = await db.query('select from lanes where owner is not null')
  assert.equal(owned.length, 0, 'its lanes are free')

  await receiver.behave({})
  await fleet.startWorker()
  const left = async () => (await db.query(`select from events where state <> 'completed'`)).rowCount
  await eventually(async () => (await left()) === 0, 'the next worker to deliver the rest')
  assert.equal((await receiver.arrivals()).length, after.length + 1, 'nothing was sent twice; the test event came too')
  t.diagnostic(
    JSON.stringify({
      underWay: arrivals.filter((each) => each.endedAt! > since).length,
      left: after.length - sent.size,
    }),
  )
})

test('SIGTERM ends the process also when nothing can be settled any more', async (t) => {
  const postgres = await startPostgres()
  const dataDir = mkdtempSync(join(tmpdir(), 'partner-service-test-'))
  const remove = async () => rmSync(dataDir, { recursive: true })
  const database = { dataDir, environment: { DATA_DIR: dataDir, DATABASE_URL: postgres.url() }, remove }
  t.after(async () => {
    await postgres.remove()
    await remove()
  })
  const receiver = await startReceiver(t, { delayMs: [1_000, 2_000] })
  const service = await spawnService(database)
  t.after(service.kill)
  await publishMany(service, await subscribe(service, receiver, actions, 4), 1)
  await eventually(async () => (await receiver.arrivals()).length === 4, 'all to be under way')
  await postgres.kill()
  assert.equal(await service.stop(), 0)
  assert.deepEqual(
    (await receiver.arrivals()).map((each) => each.status),
    Array(4).fill(200),
  )

  await postgres.start()
  const next = await spawnService(database)
  t.after(next.kill)
  const db = await connectTo(t, postgres.url())
  const done = async () => (await db.query(`select from events where state = 'completed' and tries = 1`)).rowCount
  await eventually(async () => (await done()) === 4, 'the next to deliver them again')
})

test('what a dead worker had under way is sent again by another', async (t) => {
  const receiver = await startReceiver(t, { delayMs: [2_000, 2_000] })
  const fleet = await startFleet(t, 2)
  const senders = watchSenders(t, receiver.port, () => fleet.workers.map((worker) => worker.child.pid!))
  await publishMany(fleet.api, await subscribe(fleet.api, receiver, actions, 8), 1)
  await eventually(async () => (await receiver.arrivals()).length === 8, 'all to be under way')
  senders.look()
  const first = (await receiver.arrivals()).slice()
  const victim = fleet.workers.find((worker) => worker.child.pid === senders.of(first[0]!))!
  const lost = first.filter((each) => senders.of(each) === victim.child.pid)
  await victim.kill()
  const diedAt = Date.now()
  await eventually(async () => (await receiver.arrivals()).length === 8 + lost.length, 'what it had to be sent again')
  const again = (await receiver.arrivals()).slice(8)
  assert.deepEqual(again.map((each) => each.eventId).sort(), lost.map((each) => each.eventId).sort())
  assert.deepEqual(
    again.map((each) => each.attempt),
    lost.map(() => 1),
  )
  const seconds = again.map((each) => (each.at - diedAt) / 1_000)
  t.diagnostic(
    JSON.stringify({ lost: lost.length, sentAgainAfterSeconds: [Math.min(...seconds), Math.max(...seconds)] }),
  )
})
