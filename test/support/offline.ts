// Looks into a database, or changes it, while no service runs on it: to move time, or to see what is really stored. The embedded
// database has one process at a time, so a test stops its service first.
import type { Db } from '../../src/db/db.ts'
import { openEmbedded } from '../../src/db/embedded.ts'
import { openPostgres } from '../../src/db/postgres.ts'
import { createDatabase, type TestDatabase } from './database.ts'
import { startTestService, type TestOptions, type TestService } from './service.ts'

interface Stoppable {
  after(work: () => Promise<void>): void
}

export async function offline<T>(database: TestDatabase, work: (db: Db) => Promise<T>): Promise<T> {
  const url = database.environment.DATABASE_URL
  const db = url ? await openPostgres(url, { poolSize: 2, onIdleError() {} }) : await openEmbedded(database.dataDir)
  try {
    return await work(db)
  } finally {
    await db.close()
  }
}

// A database that outlives the services on it: start one, stop it, look inside, start another.
export async function lastingDatabase(t: Stoppable) {
  const database = await createDatabase()
  const endings: (() => Promise<void> | void)[] = []
  t.after(async () => {
    for (const end of endings.reverse()) await end()
    await database.remove()
  })
  return {
    ...database,
    start: (options: Omit<TestOptions, 'database'> = {}): Promise<TestService> =>
      startTestService(
        { after: (end: () => Promise<void> | void) => void endings.push(end) },
        { ...options, database },
      ),
    offline: <T>(work: (db: Db) => Promise<T>): Promise<T> => offline(database, work),
  }
}
