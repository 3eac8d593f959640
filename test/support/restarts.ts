// A service that can be stopped and started again on the same database and the same ports, for tests that look into the database,
// or change it behind the service's back, in between: the embedded database lets nobody else in while the service runs.
import type { Db } from '../../src/db/db.ts'
import { open } from '../db/open.ts'
import { createDatabase } from './database.ts'
import { freePort } from './postgres.ts'
import { startTestService, type TestService } from './service.ts'

export interface RestartableService {
  readonly service: TestService // clients made with it go on working after a restart
  start(environment?: Record<string, string>): Promise<void>
  stop(): Promise<void>
  meanwhile<T>(work: (db: Db) => Promise<T>): Promise<T> // with the service stopped; it runs again afterwards
}

export async function startRestartable(
  t: { after(work: () => Promise<void> | void): void },
  environment: Record<string, string> = {},
): Promise<RestartableService> {
  const database = await createDatabase()
  const ports = { PORT: String(await freePort()), OPERATOR_PORT: String(await freePort()) }
  const ends: (() => Promise<void> | void)[] = []
  const later = { after: (work: () => Promise<void> | void) => ends.push(work) }
  let current = environment
  let running: TestService | undefined
  const start = async (changed: Record<string, string> = current) => {
    current = changed
    running = await startTestService(later, { database, environment: { ...ports, ...changed } })
  }
  const stop = async () => {
    await running?.stop()
    running = undefined
  }
  t.after(async () => {
    for (const end of ends.reverse()) await end()
    await database.remove()
  })
  await start()
  return {
    service: running!,
    start,
    stop,
    async meanwhile(work) {
      await stop()
      const db = await open(database)
      const result = await work(db).finally(() => db.close())
      await start()
      return result
    },
  }
}
