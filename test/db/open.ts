// A database of a test's own, opened without the service around it.
import type { TestContext } from 'node:test'
import type { Db } from '../../src/db/db.ts'
import { openEmbedded } from '../../src/db/embedded.ts'
import { openPostgres } from '../../src/db/postgres.ts'
import { createDatabase } from '../support/database.ts'

export async function openTestDatabase(t: TestContext): Promise<Db> {
  const database = await createDatabase()
  const url = database.environment.DATABASE_URL
  const db = url ? await openPostgres(url, 3, () => {}) : await openEmbedded(database.dataDir)
  t.after(async () => {
    await db.close()
    await database.remove()
  })
  return db
}
