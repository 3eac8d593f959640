// Arrays go into the database as they are: every kind of element, quotes, backslashes, nulls and emptiness included.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openTestDatabase } from './open.ts'

test('arrays come back as they were given', async (t) => {
  const db = await openTestDatabase(t)
  const texts = [
    '',
    'plain',
    'NULL',
    'null',
    'a,b',
    '{x}',
    '"',
    '\\',
    'a"b\\"c',
    ' x ',
    '\n\t',
    'ñandú 🦤',
    '\\x41',
    '","',
  ]
  for (const given of [
    texts,
    ...texts.map((each) => [each]),
    [...texts, null],
    [null],
    [null, null, 'x'],
    [],
    ['2026-01-05T12:00:00Z'],
  ]) {
    const { rows } = await db.query<{ back: (string | null)[] }>('select $1::text[] as back', [given])
    assert.deepEqual(rows[0]!.back, given)
  }
  const bytes = [Buffer.alloc(0), Buffer.from([0, 255, 92, 34]), Buffer.from('\\x41'), null, Buffer.alloc(5_000, 7)]
  for (const given of [bytes, bytes.slice(0, 3), [], [null]]) {
    const { rows } = await db.query<{ hex: string | null }>(
      `select encode(b, 'hex') as hex from unnest($1::bytea[]) with ordinality as a (b, n) order by n`,
      [given],
    )
    assert.deepEqual(
      rows.map((row) => row.hex),
      given.map((each) => each?.toString('hex') ?? null),
    )
  }
  const { rows } = await db.query<{ ints: number[]; floats: number[]; flags: boolean[]; times: string[] }>(
    'select $1::int[] as ints, $2::float8[] as floats, $3::bool[] as flags, $4::timestamptz[]::text[] as times',
    [
      [1, -2, null],
      [0.5, 1e21, null],
      [true, false],
      ['2026-01-05T12:00:00Z', '-infinity'],
    ],
  )
  assert.deepEqual(rows[0]!.ints, [1, -2, null])
  assert.deepEqual(rows[0]!.floats, [0.5, 1e21, null])
  assert.deepEqual(rows[0]!.flags, [true, false])
  assert.match(rows[0]!.times[0]!, /^2026-01-05 /)
})
