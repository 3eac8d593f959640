// src/db/schema.sql: the migrations are applied to an empty embedded database, and what they leave is dumped.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openEmbedded } from '../src/db/embedded.ts'
import { migrate } from '../src/db/migrate.ts'
import { dumpSchema } from '../src/db/schema.ts'

export async function generateSchema(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'partner-service-schema-'))
  try {
    const db = await openEmbedded(folder)
    await migrate(db)
    const schema = await dumpSchema(db)
    await db.close()
    return schema
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
