// `migrate`: the database brought up to date without starting the service, for deployments that do it in a step of its own.
import { openDatabase } from '../db/open.ts'
import { createLogger, readConfig } from './configured.ts'

export async function migrateDatabase(): Promise<number> {
  const config = readConfig()
  const db = await openDatabase(config, createLogger(config.logLevel))
  await db.close()
  process.stdout.write('The database is up to date.\n')
  return 0
}
