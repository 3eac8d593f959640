// What a claim costs does not grow with history or backlog: after a million deliveries, with another session's snapshot held open so
// that no dead row can be removed, and with a million rows queued. PostgreSQL only: it is about its storage. About 70 s.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import pg from 'pg'
import { pino } from 'pino'
import type { Context } from '../../src/context.ts'
import type { Db, Tx, Value } from '../../src/db/db.ts'
import type { Entry, Lane } from '../../src/delivery/lane.ts'
import { type QueueRequest, readQueuesSql, readQueuesValues } from '../../src/delivery/queries.ts'
import { createSettler } from '../../src/delivery/settle.ts'
import { createDatabase, databaseKind } from '../support/database.ts'

const million = 1_000_000
const step = 100_000
const laneCount = 20
const take = 40
const takeoverMs = 5 * 60_000 // how far behind the stored position a new owner starts

interface Cost {
  readonly rows: number
  readonly buffers: number
  readonly perRow: number
  readonly scans: string[]
  readonly visited: number // by the step of the plan that looked at most rows
}

if (databaseKind === 'postgres') {
  const database = await createDatabase()
  const connect = async () => {
    const client = new pg.Client({ connectionString: database.environment.DATABASE_URL! })
    client.on('error', () => {}) // the database is dropped under it
    await client.connect()
    return client
  }
  const client = await connect()
  const holder = await connect()
  after(async () => {
    await client.end()
    await holder.end()
    await database.remove()
  })
  // Statistics are taken when the test says so, not when autovacuum comes by.
  await client.query('alter table events set (autovacuum_enabled = off)')
  await client.query(
    `insert into lanes (subscription_id, partner_id, owner)
     select 'sub_' || lpad(n::text, 8, '0'), 'ptr_' || n % 4, 'wrk_1' from generate_series(0, ${laneCount - 1}) n`,
  )
  await client.query(
    `insert into lanes (subscription_id, partner_id, owner) select 'sub_other_' || n, 'ptr_other', 'wrk_2' from generate_series(1, 1000) n`,
  )

  const explain = async (sql: string, values: readonly unknown[]): Promise<Cost> => {
    const { rows } = await client.query(`explain (analyze, buffers, format json) ${sql}`, values as unknown[])
    const plan = rows[0]['QUERY PLAN'][0].Plan
    const buffers = plan['Shared Hit Blocks'] + plan['Shared Read Blocks']
    return {
      rows: plan['Actual Rows'],
      buffers,
      perRow: buffers / plan['Actual Rows'],
      scans: scansOf(plan),
      visited: mostVisited(plan),
    }
  }
  const claim = async (lanes: readonly number[], after: number | null): Promise<Cost> => {
    const requests = lanes.flatMap((lane): QueueRequest[] =>
      (['m', 'f', 'r'] as const).map((queue) => ({
        subscriptionId: laneId(lane),
        queue,
        position: after === null ? null : { dueAt: timeOf(after), id: eventId(after) },
        take,
      })),
    )
    const cost = await explain(readQueuesSql, readQueuesValues(requests))
    assert.equal(cost.rows, lanes.length * take)
    assert.deepEqual(cost.scans, ['Index Scan events_queue'], 'the claim uses its index')
    return cost
  }
  const settle = (from: number) => costOfSettling(client, explain, from)
  const everyLane = Array.from({ length: laneCount }, (_, i) => i)

  test('a claim from a worn and loaded table reads no more than twice what it reads from a fresh one', async (t) => {
    await client.query(insertSql(1, 1_000))
    const fresh = { one: await claim([3], null), all: await claim(everyLane, null), settled: await settle(1) }
    t.diagnostic(`settling without statistics: ${fresh.settled.perRow.toFixed(2)} buffers a row`)
    await client.query('truncate events')

    await holder.query('begin isolation level repeatable read')
    await holder.query('select count(*) from events')
    for (let n = 0; n < million; n += step) {
      await client.query(insertSql(n + 1, n + step))
      await client.query(settleSql(n + 1, n + step))
    }
    await client.query('analyze events') // as if the queues were always empty: statistics that mislead from now on
    for (let n = million; n < 2 * million; n += step) await client.query(insertSql(n + 1, n + step))

    const check = async (statistics: string) => {
      const worn = {
        one: await claim([3], million),
        all: await claim(everyLane, million),
        amid: await claim([3], 1.5 * million),
        settled: await settle(million + 1),
      }
      const figures = `one lane ${show(worn.one, fresh.one)}, all ${show(worn.all, fresh.all)}, amid the queue ${show(worn.amid, fresh.one)}`
      t.diagnostic(`${statistics}: ${figures}, settling ${show(worn.settled, fresh.settled)}`)
      for (const each of [worn.one, worn.amid]) assert.ok(each.perRow <= 2 * fresh.one.perRow, figures)
      assert.ok(worn.all.perRow <= 2 * fresh.all.perRow, figures)
      assert.ok(worn.settled.perRow <= 3 * fresh.settled.perRow, `settling ${show(worn.settled, fresh.settled)}`)
    }
    await check('statistics from before the backlog')
    await client.query('analyze events')
    await check('fresh statistics')

    // A new owner walks once over what its lane delivered in the five minutes before; then it has a position of its own.
    const takeover = await claim([3], million - takeoverMs)
    t.diagnostic(`after a takeover: ${takeover.buffers} buffers once, for ${takeoverMs / laneCount} deliveries`)
    assert.ok(takeover.buffers <= (1.5 * takeoverMs) / laneCount)
    await holder.query('commit')
  })

  test('a lane that has nothing to read costs next to nothing', async () => {
    const cost = await explain(
      readQueuesSql,
      readQueuesValues([
        { subscriptionId: laneId(3), queue: 'f', position: { dueAt: timeOf(3 * million), id: '' }, take },
      ]),
    )
    assert.equal(cost.rows, 0)
    assert.ok(cost.buffers <= 5, `${cost.buffers} buffers`)
  })
}

function laneId(lane: number): string {
  return `sub_${String(lane).padStart(8, '0')}`
}

function eventId(n: number): string {
  return `evt_${String(n).padStart(12, '0')}`
}

function timeOf(n: number): string {
  return new Date(Date.UTC(2026, 0, 1) + n).toISOString()
}

// What publishing does to the rows: one each millisecond, the lanes in turn.
function insertSql(from: number, to: number): string {
  return `insert into events (partner_id, id, subscription_id, publication_id, action, resource_id, payload, state, due_at, created_at)
    select 'ptr_' || n % ${laneCount} % 4, 'evt_' || lpad(n::text, 12, '0'), 'sub_' || lpad((n % ${laneCount})::text, 8, '0'), 'pub_' || n,
      'order-closed', 'order-' || n, decode(repeat('ab', 150), 'hex'), 'pending', time, time
    from (select n, timestamptz '2026-01-01 00:00:00Z' + n * interval '1 millisecond' as time from generate_series(${from}, ${to}) n) new`
}

// What settling does to them.
function settleSql(from: number, to: number): string {
  return `update events set state = 'completed', queue = 'r', tries = tries + 1, schedule_tries = schedule_tries + 1, delivered_at = now(),
      last_attempt_at = now(), last_response_status = 200
    where partner_id in ('ptr_0', 'ptr_1', 'ptr_2', 'ptr_3') and id between '${eventId(from)}' and '${eventId(to)}'`
}

// The settler's own statement for two hundred answers, explained and then rolled back.
async function costOfSettling(
  client: pg.Client,
  explain: (sql: string, values: readonly unknown[]) => Promise<Cost>,
  from: number,
): Promise<Cost> {
  const count = 200
  let cost: Cost | undefined
  const query = async (text: string, values: readonly Value[] = []) => {
    if (text.includes('for key share')) return { rows: [], count: 1 } // the fence
    await client.query('begin')
    cost = await explain(text, values)
    await client.query('rollback')
    return { rows: [], count }
  }
  const db = { transaction: (work: (tx: Tx) => Promise<unknown>) => work({ query } as unknown as Tx) } as unknown as Db
  const context = { db, log: pino({ level: 'silent' }), config: { webhookRetryScheduleMs: [] } } as unknown as Context
  const settler = createSettler(context, {
    worker: () => 'wrk_1',
    settled: () => {},
    fenced: () => {},
    alsoWrite: async () => {},
  })
  for (let n = from; n < from + count; n++) {
    const partnerId = `ptr_${(n % laneCount) % 4}`
    const entry = { id: eventId(n), partnerId, tries: 0, scheduleTries: 0, queue: 'f' } as Entry
    const outcome = {
      kind: 'status',
      status: 200,
      retryAfterMs: undefined,
      body: Buffer.from('ok'),
      durationMs: 5,
    } as const
    settler.add({ lane: {} as Lane, entry, outcome, url: 'https://a.test/', endedAtMs: 0, health: undefined })
  }
  await settler.idle()
  assert.equal(cost?.rows, count)
  assert.ok(cost!.visited <= 2 * count, `a step of settling ${count} answers looked at ${cost!.visited} rows`)
  return cost!
}

function scansOf(plan: Record<string, unknown>): string[] {
  const own = /Scan$/.test(plan['Node Type'] as string) && plan['Relation Name'] === 'events'
  const below = ((plan.Plans ?? []) as Record<string, unknown>[]).flatMap(scansOf)
  return own ? [`${plan['Node Type']} ${plan['Index Name'] ?? ''}`.trim(), ...below] : below
}

// A join that tries everything with everything shows as rows that its filter removed.
function mostVisited(plan: Record<string, unknown>): number {
  const rows = ['Actual Rows', 'Rows Removed by Filter', 'Rows Removed by Join Filter'].map((name) =>
    Number(plan[name] ?? 0),
  )
  const own = rows.reduce((sum, each) => sum + each) * Number(plan['Actual Loops'] ?? 1)
  return Math.max(own, ...((plan.Plans ?? []) as Record<string, unknown>[]).map(mostVisited))
}

function show(worn: Cost, fresh: Cost): string {
  return `${worn.perRow.toFixed(2)} buffers a row (fresh ${fresh.perRow.toFixed(2)})`
}
