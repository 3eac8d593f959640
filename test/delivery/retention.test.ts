// What is old and finished goes, in bounded steps that wait for nobody; what is pending stays however old it is. About 10 s.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { pino } from 'pino'
import { parseConfig } from '../../src/config.ts'
import type { Context } from '../../src/context.ts'
import type { Db, Tx } from '../../src/db/db.ts'
import { openDatabase } from '../../src/db/open.ts'
import { dropOld } from '../../src/delivery/retention.ts'
import { newId } from '../../src/ids.ts'
import { createMetrics } from '../../src/metrics.ts'
import { createDatabase, databaseKind, type TestDatabase } from '../support/database.ts'
import { eventually } from '../support/endpoint.ts'
import { startTestService } from '../support/service.ts'

const day = 86_400_000
const log = pino({ level: 'silent' })

async function openContext(database: TestDatabase, now: () => Date = () => new Date()): Promise<Context> {
  const result = parseConfig({ ...database.environment, RETENTION: '60d' })
  if (!result.ok) throw new Error(result.mistakes.join('\n'))
  return { config: result.config, db: await openDatabase(result.config, log), log, metrics: createMetrics(), now }
}

const database = await createDatabase()
const ctx = await openContext(database)
after(async () => {
  await ctx.db.close()
  await database.remove()
})

async function addPartner(db: Db): Promise<string> {
  const id = newId('ptr')
  await db.query('insert into partners (id, configuration_version) values ($1, 0)', [id])
  return id
}

async function addEvents(partnerId: string, count: number, ageDays: number, state: string): Promise<string[]> {
  const atMs = Date.now() - ageDays * day
  const ids = Array.from({ length: count }, () => newId('evt', atMs))
  const at = new Date(atMs).toISOString()
  await ctx.db.query(
    `insert into events (partner_id, id, subscription_id, publication_id, action, resource_id, payload, state, due_at, created_at)
     select $1, id, 'sub_x', 'pub_x', 'order-closed', 'o', '', $3, $4::timestamptz, $4::timestamptz from unnest($2::text[]) as id`,
    [partnerId, ids, state, at],
  )
  await ctx.db.query(
    `insert into attempts (partner_id, event_id, number, at, url, status, duration_ms)
     select $1, id, number, $3::timestamptz, 'https://a.test/', 500, 1 from unnest($2::text[]) as id, generate_series(1, 2) as number`,
    [partnerId, ids, at],
  )
  await ctx.db.query(
    `insert into publications (partner_id, id, publication_id, content_hash, event_ids, created_at)
     select $1, 'own-' || id, 'pub_x', '', array[id], $3::timestamptz from unnest($2::text[]) as id`,
    [partnerId, ids, at],
  )
  return ids
}

async function left(table: string, column: string, partnerId: string): Promise<string[]> {
  const { rows } = await ctx.db.query<{ id: string }>(
    `select distinct ${column} as id from ${table} where partner_id = $1 order by 1`,
    [partnerId],
  )
  return rows.map((row) => row.id)
}

// Counts what each transaction deletes.
function watched(db: Db, deleted: number[]): Db {
  const counted = (handle: Pick<Db, 'query'>, count: (rows: number) => void): Db['query'] =>
    (async (text: string, values: never) => {
      const result = await handle.query(text, values)
      if (/delete from/.test(text))
        count(Math.max(result.count, Number((result.rows[0] as { count?: number })?.count ?? 0)))
      return result
    }) as Db['query']
  return {
    ...db,
    query: counted(db, (rows) => deleted.push(rows)),
    transaction: (work) =>
      db.transaction(async (tx) => {
        deleted.push(0)
        const own = deleted.length - 1
        return work({ ...tx, query: counted(tx, (rows) => (deleted[own] = Math.max(deleted[own]!, rows))) } as Tx)
      }),
  }
}

test('what is finished and older than the retention goes, with attempts and publications, in small steps', async () => {
  const partner = await addPartner(ctx.db)
  await addEvents(partner, 2_300, 61, 'completed')
  await addEvents(partner, 300, 61, 'error')
  const pending = await addEvents(partner, 20, 61, 'pending')
  const young = await addEvents(partner, 20, 59, 'completed')
  const deleted: number[] = []
  await dropOld({ ...ctx, db: watched(ctx.db, deleted) })
  const kept = [...pending, ...young].sort()
  assert.deepEqual(await left('events', 'id', partner), kept)
  assert.deepEqual(await left('attempts', 'event_id', partner), kept)
  assert.deepEqual(await left('publications', 'id', partner), young.map((id) => `own-${id}`).sort())
  assert.equal(Math.max(...deleted), 2_000, 'a thousand events a step, with their attempts')
  assert.ok(deleted.filter((rows) => rows > 0).length >= 6, `several transactions: ${deleted}`)
})

test('every partner has its turn in every round', async () => {
  const partners: string[] = []
  for (let i = 0; i < 130; i++) {
    const partner = await addPartner(ctx.db)
    await addEvents(partner, 1, 61, 'completed')
    partners.push(partner)
  }
  await dropOld(ctx)
  for (const partner of partners) assert.deepEqual(await left('events', 'id', partner), [])
})

test('lanes of subscriptions deleted long ago go; others stay', async () => {
  const partner = await addPartner(ctx.db)
  const add = async (deletedDays: number | null, pendingEvent = false) => {
    const id = newId('sub')
    await ctx.db.query(
      `insert into subscriptions (partner_id, id, url, events, deleted_at)
       values ($1, $2, 'https://a.test/', '{}', now() - $3::int * interval '1 day')`,
      [partner, id, deletedDays],
    )
    await ctx.db.query('insert into lanes (subscription_id, partner_id) values ($1, $2)', [id, partner])
    if (pendingEvent) {
      const [event] = await addEvents(partner, 1, 61, 'pending')
      await ctx.db.query('update events set subscription_id = $3 where partner_id = $1 and id = $2', [
        partner,
        event!,
        id,
      ])
    }
    return id
  }
  const [gone, recent, live, waiting] = [await add(61), await add(59), await add(null), await add(61, true)]
  await dropOld(ctx)
  const lanes = await left('lanes', 'subscription_id', partner)
  assert.deepEqual(lanes, [recent, live, waiting].sort())
  const { rows } = await ctx.db.query<{ ids: string[] }>(
    `select subscription_ids as ids from signals where queue = '*'`,
  )
  assert.ok(
    rows.some(({ ids }) => ids.includes(gone)),
    'the owner is told',
  )
})

if (databaseKind === 'postgres') {
  test('what somebody holds is left for the next round instead of being waited for', async () => {
    const partner = await addPartner(ctx.db)
    const [held] = await addEvents(partner, 5, 61, 'completed')
    await ctx.db.transaction(async (tx) => {
      await tx.query('select 1 from events where partner_id = $1 and id = $2 for update', [partner, held!])
      await tx.query('select 1 from publications where partner_id = $1 and id = $2 for update', [
        partner,
        `own-${held}`,
      ])
      await dropOld(ctx)
      assert.deepEqual(await left('events', 'id', partner), [held])
    })
    await dropOld(ctx)
    assert.deepEqual(await left('events', 'id', partner), [])
    assert.deepEqual(await left('publications', 'id', partner), [])
  })

  test('the worker that owns the lane of a deleted subscription forgets it', async (t) => {
    const shared = await createDatabase()
    t.after(() => shared.remove())
    const service = await startTestService(t, { database: shared })
    const { body } = await service.partner.post('/webhooks/subscriptions', {
      url: 'https://hooks.example.com/',
      events: ['order-closed'],
    })
    const lanes = async () => {
      const text = await (await fetch(`${service.operatorUrl}/metrics`)).text()
      return Number(/^webhook_lanes\{state="all"\} (\d+)$/m.exec(text)![1])
    }
    await eventually(async () => (await lanes()) === 1, 'the lane to be taken')
    assert.equal((await service.partner.delete(`/webhooks/subscriptions/${body.id}`)).status, 204)
    const later = await openContext(shared, () => new Date(Date.now() + 61 * day))
    await dropOld(later)
    await later.db.close()
    await eventually(async () => (await lanes()) === 0, 'the lane to be forgotten')
  })
}
