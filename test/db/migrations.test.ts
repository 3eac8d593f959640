// Migrations: once, in order, whole or not at all, and never backwards.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { migrate, readMigrations } from '../../src/db/migrate.ts'
import { dumpSchema } from '../../src/db/schema.ts'
import { run } from '../lifecycle/run.ts'
import { createDatabase, databaseKind } from '../support/database.ts'
import { type ServiceProcess, spawnService } from '../support/service.ts'
import { createEmptyDatabase, open, openTestDatabase } from './open.ts'

if (databaseKind === 'postgres') {
  test('several processes that start at once on an empty database migrate it once and agree on the demo key', async (t) => {
    const database = await createEmptyDatabase(t)
    const starts = await Promise.allSettled(Array.from({ length: 5 }, () => spawnService(database)))
    const started = starts.filter((each) => each.status === 'fulfilled').map((each) => each.value as ServiceProcess)
    t.after(() => Promise.all(started.map((each) => each.kill())))
    for (const each of starts) if (each.status === 'rejected') throw each.reason

    const db = await open(database)
    t.after(() => db.close())
    const { rows } = await db.query<{ name: string }>('select name from migrations order by number')
    assert.deepEqual(
      rows.map((row) => row.name),
      readMigrations().map((each) => each.name),
    )
    const migrated = started.filter((each) => each.log().includes('database migrated'))
    assert.ok(migrated.length >= 1)
    const counts = await db.query(
      'select (select count(*) from partners) as partners, (select count(*) from api_keys) as keys, (select count(*) from installation) as installations',
    )
    assert.deepEqual(counts.rows, [{ partners: 1, keys: 1, installations: 1 }])

    const [first] = started
    for (const each of started) {
      assert.equal(each.demoSecret, first!.demoSecret)
      assert.ok(each.output().includes(first!.demoSecret), 'each prints the key that is in the file')
      assert.equal((await each.partner.get('/partner')).status, 200)
      assert.equal((await each.operator.get('/partners')).status, 200)
    }
  })
}

test('a database used by a newer version is refused with a clear message and left alone', async (t) => {
  const database = await createDatabase()
  t.after(() => database.remove())
  const db = await open(database)
  const known = readMigrations().length
  await db.query('insert into migrations (number, name) values ($1, $2)', [known + 1, 'from_the_future'])
  await db.close()
  for (const command of ['serve', 'migrate']) {
    const { ended, log, output } = run(database, [command])
    assert.equal(await ended, 1)
    assert.match(log(), new RegExp(`at migration ${known + 1}, this version knows ${known}.+Upgrade the service`))
    assert.equal(output(), '')
  }
  const again = await open(database)
  t.after(() => again.close())
  assert.equal((await again.query('select from installation')).rows.length, 0)
})

test('a migration that fails leaves nothing behind, and a mended one is applied later', async (t) => {
  const db = await openTestDatabase(t)
  const before = await dumpSchema(db)
  const known = readMigrations()
  const next = { number: known.length + 1, name: 'next', sql: 'create table half_done (id int); select 1 / 0;' }
  const afterNext = { number: known.length + 2, name: 'after_next', sql: 'create table never_reached (id int);' }
  await assert.rejects(migrate(db, [...known, next, afterNext]), /division by zero/)
  assert.equal(await dumpSchema(db), before)
  assert.equal((await db.query('select from migrations')).rows.length, known.length)

  const mended = { ...next, sql: 'create table done (id int);' }
  assert.deepEqual(await migrate(db, [...known, mended, afterNext]), ['next', 'after_next'])
  assert.deepEqual(await migrate(db, [...known, mended, afterNext]), [])
})

test('an empty database is migrated by `migrate` alone, and a second time changes nothing', async (t) => {
  const database = await createEmptyDatabase(t)
  for (let time = 0; time < 2; time++) {
    const { ended, output, log } = run(database, ['migrate'])
    assert.equal(await ended, 0, log())
    assert.match(output(), /up to date/)
  }
})
