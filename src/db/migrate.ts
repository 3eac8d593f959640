// Forward-only migrations: numbered .sql files, each applied once, in order, in a transaction of its own. Safe when several
// processes start at once (one advisory lock), and a database from a newer version is left alone.
import { readdirSync, readFileSync } from 'node:fs'
import type { Db, Tx } from './db.ts'

const folder = new URL('./migrations/', import.meta.url)
const lockNumber = 7_020_260_001 // any number, as long as every version uses the same

export interface Migration {
  readonly number: number
  readonly name: string
  readonly sql: string
}

export async function migrate(db: Db, migrations: readonly Migration[] = readMigrations()): Promise<string[]> {
  const applied: string[] = []
  for (;;) {
    const name = await db.transaction((tx) => applyNext(tx, migrations))
    if (name === undefined) return applied
    applied.push(name)
  }
}

async function applyNext(tx: Tx, migrations: readonly Migration[]): Promise<string | undefined> {
  await tx.script(`select pg_advisory_xact_lock(${lockNumber})`) // a script waits as long as another process migrates
  await tx.query(`create table if not exists migrations (
    number int primary key, name text not null, applied_at timestamptz not null default now())`)
  const { rows } = await tx.query<{ last: number }>('select coalesce(max(number), 0) as last from migrations')
  const last = rows[0]!.last
  if (last > migrations.length) {
    throw new Error(
      `The database is at migration ${last}, this version knows ${migrations.length}: it was used by a newer version. Upgrade the service.`,
    )
  }
  const next = migrations[last]
  if (!next) return undefined
  await tx.script(next.sql)
  await tx.query('insert into migrations (number, name) values ($1, $2)', [next.number, next.name])
  return next.name
}

export function readMigrations(): Migration[] {
  const names = readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .sort()
  return names.map((name, index) => {
    const number = Number(name.slice(0, 4))
    if (number !== index + 1) throw new Error(`migration ${name} is out of order: expected number ${index + 1}`)
    return { number, name: name.replace(/\.sql$/, ''), sql: readFileSync(new URL(name, folder), 'utf8') }
  })
}
