// Faults at one exact moment of settling: a worker that is paused with the fence in its hand, and one that dies with answers not
// yet written. The test makes the moment by holding a lock on the event. Costs about 50 s.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type pg from 'pg'
import { subscribe } from '../support/checker-publishers.ts'
import { startFleet } from '../support/checker-workers.ts'
import { connectTo } from '../support/database.ts'
import { eventually } from '../support/endpoint.ts'
import { publish, publishMany } from '../support/partner.ts'
import { startReceiver } from '../support/receiver.ts'
import { watchSenders } from '../support/receiver-senders.ts'

async function hasRow(db: pg.Client, sql: string, ...values: unknown[]): Promise<boolean> {
  return ((await db.query(sql, values)).rowCount ?? 0) > 0
}

test('a worker that is paused in the middle of settling keeps no other from taking over', async (t) => {
  const receiver = await startReceiver(t)
  const fleet = await startFleet(t, 2)
  const senders = watchSenders(t, receiver.port, () => fleet.workers.map((worker) => worker.child.pid!))
  const partnerId = await subscribe(fleet.api, receiver, ['order-closed'])
  const db = await connectTo(t, fleet.databaseUrl)
  const isCompleted = (id: string | undefined) =>
    hasRow(db, `select from events where id = $1 and state = 'completed'`, id)
  const inState = (state: string) =>
    hasRow(
      db,
      `select from pg_stat_activity where datname = current_database() and query like '%update events e set%'
      and pid <> pg_backend_pid() and ${state}`,
    )

  const [first] = await publish(fleet.api, partnerId)
  await eventually(() => isCompleted(first), 'a first event to be delivered')
  await receiver.behave({ delayMs: [1_500, 1_500] })
  const [second] = await publish(fleet.api, partnerId)
  await eventually(async () => (await receiver.arrivals()).length === 2, 'the second to be in flight')
  senders.look()
  const owner = senders.of((await receiver.arrivals())[1]!)!

  const lock = await connectTo(t, fleet.databaseUrl)
  await lock.query('begin')
  await lock.query('select from events where id = $1 for update', [second])
  await eventually(() => inState(`wait_event_type = 'Lock'`), 'the answer to be waiting for its settlement')
  process.kill(owner, 'SIGSTOP')
  await lock.query('rollback')
  await eventually(() => inState(`state = 'idle in transaction'`), 'a transaction that nobody goes on with')
  const [third] = await publish(fleet.api, partnerId)
  await eventually(() => isCompleted(third), 'the other worker to deliver what comes now')
  await eventually(() => isCompleted(second), 'and what the paused one had under way')
  process.kill(owner, 'SIGCONT')
  const paused = fleet.workers.find((worker) => worker.child.pid === owner)!
  await eventually(() => paused.log().includes('was taken for dead'), 'the paused worker to begin anew')
  const { rows } = await db.query(
    'select tries, (select count(*)::int from attempts where event_id = id) as attempts from events',
  )
  assert.deepEqual(rows, Array(3).fill({ tries: 1, attempts: 1 }))
  const late = (await receiver.arrivals()).filter((each) => each.eventId === second)
  assert.equal(late.length, 2, 'what was in flight is sent once more')
})

test('answers that are not yet written when their worker dies are asked for again, however old the backlog', async (t) => {
  const receiver = await startReceiver(t)
  const fleet = await startFleet(t, 0)
  const partnerId = await subscribe(fleet.api, receiver, ['order-closed'])
  const db = await connectTo(t, fleet.databaseUrl)
  const events = await publishMany(fleet.api, partnerId, 30)
  for (const [i, id] of events.entries()) {
    await db.query(`update events set due_at = now() - $2 * interval '1 hour' where id = $1`, [id, events.length - i])
  }
  const lock = await connectTo(t, fleet.databaseUrl)
  await lock.query('begin')
  await lock.query('select from events where id = $1 for update', [events[0]])
  const worker = await fleet.startWorker()
  await eventually(async () => (await receiver.arrivals()).length === events.length, 'all to be sent')
  await eventually(
    () => hasRow(db, 'select from lanes where first_position is not null'),
    'the worker to note how far it has read',
  )
  await worker.kill()
  await lock.query('rollback')
  await fleet.startWorker()
  const left = async () => (await db.query(`select id from events where state <> 'completed'`)).rowCount
  await eventually(async () => (await left()) === 0, 'the next worker to deliver all of them')
})
