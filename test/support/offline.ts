// Looks into a database, or changes it, while no service runs on it: to move time, or to see what is really stored. The embedded
// database has one process at a time, so a test stops its service first.
import type { Db } from '../../src/db/db.ts'
import { openEmbedded } from '../../src/db/embedded.ts'
import { openPostgres } from '../../src/db/postgres.ts'
import type { TestDatabase } from './database.ts'

export async function offline<T>(database: TestDatabase, work: (db: Db) => Promise<T>): Promise<T> {
  const url = database.environment.DATABASE_URL
  const db = url ? await openPostgres(url, { poolSize: 2, onIdleError() {} }) : await openEmbedded(database.dataDir)
  try {
    return await work(db)
  } finally {
    await db.close()
  }
}
