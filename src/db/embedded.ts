// PGlite: PostgreSQL inside this process, in a data folder. For trying, development and small sandboxes: a killed process loses
// nothing, but it does not fsync, so a power cut may. One process at a time, kept so by a lock that the kernel releases.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { PGlite, type Transaction, types } from '@electric-sql/pglite'
import { fromDatabase } from '../times.ts'
import { type Db, type Queryable, toRows, type Value } from './db.ts'
import { lockFolder } from './lock.ts'

const options = {
  rowMode: 'array' as const,
  parsers: { [types.TIMESTAMPTZ]: fromDatabase, [types.INT8]: Number },
}

export async function openEmbedded(dataDir: string): Promise<Db> {
  mkdirSync(dataDir, { recursive: true })
  const unlock = lockFolder(dataDir)
  let pglite: PGlite
  try {
    pglite = await PGlite.create(join(dataDir, 'database'))
  } catch (error) {
    unlock()
    throw error
  }
  return {
    kind: 'embedded',
    query: queryOn(pglite),
    urgent: { query: queryOn(pglite) },
    transaction: (work) =>
      pglite.transaction((tx) =>
        work({
          inTransaction: true,
          query: queryOn(tx),
          async script(sql) {
            await tx.exec(sql)
          },
        }),
      ),
    async close() {
      await pglite.close()
      unlock()
    },
  }
}

function queryOn(handle: PGlite | Transaction): Queryable['query'] {
  return async <R extends object>(text: string, values: readonly Value[] = []) => {
    const result = await handle.query<unknown[]>(text, values as unknown[], options)
    const rows = toRows<R>(
      result.fields.map((field) => field.name),
      result.rows,
    )
    return { rows, count: result.rowCount ?? 0 }
  }
}
