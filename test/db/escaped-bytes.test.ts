// Bytes that were read as escaped text are the bytes that were stored.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { fromEscaped } from '../../src/db/escaped-bytes.ts'
import { openTestDatabase } from './open.ts'

test('bytes of every kind come back from their escaped form', async (t) => {
  const db = await openTestDatabase(t)
  const all = Buffer.from(Array.from({ length: 256 }, (_, i) => i))
  const texts = ['', '{"a":1}', '\\', '\\\\', 'a\\101b', '"\\u00e9\\n"', 'ñandú 🦤', '\\🦤\\'].map((each) =>
    Buffer.from(each),
  )
  for (const given of [all, Buffer.concat([all, all]), randomBytes(5_000), ...texts]) {
    const { rows } = await db.query<{ text: string }>(`select encode($1::bytea, 'escape') as text`, [given])
    assert.deepEqual(fromEscaped(rows[0]!.text), given)
  }
})
