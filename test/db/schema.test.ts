// schema.sql is what the migrations make, on this database as on any other.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { dumpSchema } from '../../src/db/schema.ts'
import { openTestDatabase } from './open.ts'

const committed = readFileSync(new URL('../../src/db/schema.sql', import.meta.url), 'utf8')

test('the committed schema.sql is what the migrations make (stale? run `npm run generate`)', async (t) => {
  const db = await openTestDatabase(t)
  assert.equal(await dumpSchema(db), committed)
})

test('a dump shows every change: of columns, constraints, indexes, functions and triggers', async (t) => {
  const db = await openTestDatabase(t)
  const changes = [
    `alter table partners add column colour varchar(20) collate "C" not null default 'red'`,
    'alter table partners alter column colour drop not null',
    'alter table partners alter column colour drop default',
    'alter table partners add constraint colourful check (colour is not null)',
    'create index partners_colour on partners (colour) where state is not null',
    'create table counted (id bigint generated always as identity primary key, twice int generated always as (1 + 1) stored)',
    'create unlogged table hasty (id int) with (fillfactor = 70)',
    'create sequence numbers as int',
    'create function one() returns int language sql return 1',
    'create trigger once before insert on partners for each row execute function refuse_audit_log_change()',
  ]
  let before = await dumpSchema(db)
  for (const change of changes) {
    await db.query(change)
    const now = await dumpSchema(db)
    assert.notEqual(now, before, change)
    before = now
  }
  assert.match(before, /\n {2}colour character varying\(20\) collate "C",?\n/)
  assert.match(
    before,
    /\n {2}id bigint not null generated always as identity,\n {2}twice integer generated always as \(\(1 \+ 1\)\) stored,\n/,
  )
  assert.match(before, /create unlogged table hasty \(\n {2}id integer\n\) with \(fillfactor=70\);\n/)
})

test('a partitioned table is dumped with its key, and the same whichever partitions exist', async (t) => {
  const db = await openTestDatabase(t)
  await db.query(
    'create table days (partner_id text references partners, day date not null, primary key (partner_id, day)) partition by range (day)',
  )
  await db.query('create index days_day on days (day)')
  await db.query('create table day_notes (partner_id text, day date, foreign key (partner_id, day) references days)')
  const before = await dumpSchema(db)
  await db.query(`create table days_1 partition of days for values from ('2026-01-01') to ('2026-01-02')`)
  await db.query('create table days_rest partition of days default')
  assert.equal(await dumpSchema(db), before)
  assert.match(before, /create table days \([^;]+\) partition by RANGE \(day\);\n/)
})
