// A fresh, migrated database for each service under test, on whichever of the two this run is about (TEST_DATABASE). Both are
// copied from a template that scripts/test.ts prepares, because initialising one takes seconds.
import { randomBytes } from 'node:crypto'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'

export const databaseKind = process.env.TEST_DATABASE === 'postgres' ? 'postgres' : 'embedded'
const templateFolder = process.env.TEST_TEMPLATE_FOLDER
const serverUrl = process.env.TEST_POSTGRES_URL
export const templateDatabase = 'partner_service_template'

export interface TestDatabase {
  readonly environment: Record<string, string> // DATA_DIR and, on PostgreSQL, DATABASE_URL
  readonly dataDir: string
  remove(): Promise<void>
}

export async function createDatabase(kind: 'embedded' | 'postgres' = databaseKind): Promise<TestDatabase> {
  const dataDir = mkdtempSync(join(tmpdir(), 'partner-service-test-'))
  if (kind === 'embedded') {
    if (!templateFolder) throw new Error('run the tests with `npm test` (it prepares the databases they need)')
    cpSync(templateFolder, dataDir, { recursive: true })
    return {
      environment: { DATA_DIR: dataDir },
      dataDir,
      remove: async () => rmSync(dataDir, { recursive: true, force: true }),
    }
  }
  const name = `test_${randomBytes(8).toString('hex')}`
  await onServer(`create database ${name} template ${templateDatabase}`)
  const url = new URL(serverUrl!)
  url.pathname = `/${name}`
  return {
    environment: { DATA_DIR: dataDir, DATABASE_URL: url.href },
    dataDir,
    async remove() {
      rmSync(dataDir, { recursive: true, force: true })
      await onServer(`drop database if exists ${name} with (force)`)
    },
  }
}

// A connection of the test's own.
export async function connectTo(t: { after(work: () => Promise<void>): void }, url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url })
  client.on('error', () => {}) // the database may go before the connection
  await client.connect()
  t.after(() => client.end())
  return client
}

async function onServer(sql: string): Promise<void> {
  if (!serverUrl) throw new Error('run the tests with `npm test` (it starts the PostgreSQL they need)')
  const client = new pg.Client({ connectionString: serverUrl })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}
