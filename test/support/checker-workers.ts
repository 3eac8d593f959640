// A fleet for tests: one process that answers publishers and several that deliver, on one database. What one of them is asked to
// endure (kill -9, a pause) is up to the test.
import { createDatabase, type TestDatabase } from './database.ts'
import { freePort } from './postgres.ts'
import { type ServiceProcess, spawnService } from './service.ts'

export interface Fleet {
  readonly database: TestDatabase
  readonly databaseUrl: string
  readonly api: ServiceProcess
  readonly workers: ServiceProcess[]
  startWorker(): Promise<ServiceProcess>
}

export async function startFleet(
  t: { after(work: () => Promise<void>): void },
  workerCount: number,
  environment: Record<string, string> = {},
): Promise<Fleet> {
  const database = await createDatabase('postgres')
  const processes: ServiceProcess[] = []
  t.after(async () => {
    for (const each of processes) {
      each.child.kill('SIGCONT')
      await each.kill()
    }
    await database.remove()
  })
  const start = async (role: string, more: Record<string, string> = {}) => {
    const started = await spawnService(database, { ROLE: role, ...environment, ...more })
    processes.push(started)
    return started
  }
  const api = await start('api', { OPERATOR_PORT: String(await freePort()) })
  const workers = await Promise.all(Array.from({ length: workerCount }, () => start('worker')))
  return { database, databaseUrl: database.environment.DATABASE_URL!, api, workers, startWorker: () => start('worker') }
}

// How many attempts a worker has ended, by its own count.
export async function attemptsOf({ operatorUrl }: ServiceProcess): Promise<number> {
  const text = await (await fetch(`${operatorUrl}/metrics`)).text()
  const lines = text.split('\n').filter((line) => line.startsWith('webhook_attempts_total'))
  return lines.reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
}
