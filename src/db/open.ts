// Opens whichever database the configuration names, with its schema up to date.
import type { Logger } from 'pino'
import type { Config } from '../config.ts'
import type { Db } from './db.ts'
import { openEmbedded } from './embedded.ts'
import { migrate } from './migrate.ts'
import { openPostgres } from './postgres.ts'

export async function openDatabase(config: Config, log: Logger): Promise<Db> {
  const db = config.databaseUrl
    ? await openPostgres(config.databaseUrl, {
        poolSize: config.databasePoolSize,
        directUrl: config.databaseDirectUrl,
        onIdleError: (error) => log.warn({ error: error.message }, 'an idle database connection broke'),
      })
    : await openEmbedded(config.dataDir)
  try {
    const applied = await migrate(db)
    if (applied.length > 0) log.info({ migrations: applied }, 'database migrated')
    return db
  } catch (error) {
    await db.close()
    throw error
  }
}
