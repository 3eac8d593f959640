// Databases for tests about the database itself: opened without the service around them, or empty.
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { Db } from '../../src/db/db.ts'
import { openEmbedded } from '../../src/db/embedded.ts'
import { openPostgres } from '../../src/db/postgres.ts'
import { createDatabase, databaseKind, type TestDatabase } from '../support/database.ts'

export function open({ environment, dataDir }: TestDatabase): Promise<Db> {
  return environment.DATABASE_URL
    ? openPostgres(environment.DATABASE_URL, { poolSize: 3, onIdleError: () => {} })
    : openEmbedded(dataDir)
}

export async function openTestDatabase(t: TestContext): Promise<Db> {
  const database = await createDatabase()
  const db = await open(database)
  t.after(async () => {
    await db.close()
    await database.remove()
  })
  return db
}

// As a person has it before the very first start.
export async function createEmptyDatabase(t: TestContext): Promise<TestDatabase> {
  const dataDir = mkdtempSync(join(tmpdir(), 'partner-service-test-'))
  const removeFolder = async () => rmSync(dataDir, { recursive: true, force: true })
  if (databaseKind === 'embedded') {
    t.after(removeFolder)
    return { environment: { DATA_DIR: dataDir }, dataDir, remove: removeFolder }
  }
  const name = `test_${randomBytes(8).toString('hex')}`
  const server = await openPostgres(process.env.TEST_POSTGRES_URL!, { poolSize: 1, onIdleError: () => {} })
  await server.query(`create database ${name}`)
  const remove = async () => {
    await removeFolder()
    await server.query(`drop database if exists ${name} with (force)`)
    await server.close()
  }
  t.after(remove)
  const url = new URL(process.env.TEST_POSTGRES_URL!)
  url.pathname = `/${name}`
  return { environment: { DATA_DIR: dataDir, DATABASE_URL: url.href }, dataDir, remove }
}
