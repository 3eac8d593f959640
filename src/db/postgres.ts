// PostgreSQL, pooled. Promises: a lost connection becomes DatabaseUnavailable and the next query gets a new one; a COMMIT is
// never cancelled or timed out, and one whose answer got lost is reported as such, never as a failure.
import pg from 'pg'
import { fromDatabase } from '../times.ts'
import { DatabaseUnavailable, type Db, type Queryable, type Tx, toRows, type Value } from './db.ts'

const connectTimeoutMs = 5_000
const statementTimeoutMs = 20_000 // for everything but COMMIT: a database that hangs counts as one that is away

const parsers: Record<number, (text: string) => unknown> = {
  [pg.types.builtins.TIMESTAMPTZ]: fromDatabase,
  [pg.types.builtins.INT8]: Number,
}
const types = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    parsers[oid] ?? pg.types.getTypeParser(oid, format as 'text')) as typeof pg.types.getTypeParser,
}

export interface PostgresOptions {
  readonly poolSize: number
  readonly directUrl?: string | undefined
  readonly onIdleError: (error: Error) => void
}

export async function openPostgres(url: string, { poolSize, directUrl, onIdleError }: PostgresOptions): Promise<Db> {
  const pool = new pg.Pool({
    connectionString: url,
    max: poolSize,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    types,
    application_name: 'partner-service',
  })
  pool.on('error', onIdleError) // an idle connection broke: the pool drops it and opens another when needed

  const db: Db = {
    kind: 'postgres',
    async query(text, values) {
      const client = await connect(pool)
      try {
        const result = await run<never>(client, text, values)
        client.release()
        return result
      } catch (error) {
        client.release(error instanceof DatabaseUnavailable)
        throw error
      }
    },
    async transaction(work) {
      const client = await connect(pool)
      let broken = true // until the transaction is known to have ended, the connection is not reused
      try {
        await run(client, 'begin')
        const tx: Tx = {
          inTransaction: true,
          query: ((text, values) => run(client, text, values)) as Queryable['query'],
          async script(sql) {
            await client.query(sql)
          },
        }
        let result: Awaited<ReturnType<typeof work>>
        try {
          result = await work(tx)
        } catch (error) {
          if (!(error instanceof DatabaseUnavailable)) {
            await run(client, 'rollback')
            broken = false
          }
          throw error
        }
        await commit(client)
        broken = false
        return result
      } finally {
        client.release(broken)
      }
    },
    listen: (channel, onMessage) => keepListening(directUrl ?? url, channel, onMessage),
    close: () => pool.end(),
  }
  return db
}

// A connection of its own, past any pooler; when it breaks, another after a second. Whoever listens also polls.
function keepListening(url: string, channel: string, onMessage: () => void): () => Promise<void> {
  let client: pg.Client | undefined
  let timer: NodeJS.Timeout | undefined
  let stopped = false
  const retry = () => {
    client = undefined
    if (!stopped) timer ??= setTimeout(begin, 1_000)
  }
  const begin = () => {
    timer = undefined
    const mine = new pg.Client({ connectionString: url, keepAlive: true, connectionTimeoutMillis: connectTimeoutMs })
    client = mine
    mine.on('error', retry)
    mine.on('end', retry)
    mine.on('notification', onMessage)
    mine
      .connect()
      .then(() => mine.query(`listen ${channel}`))
      .then(onMessage) // what was sent while nobody listened
      .catch(() => void mine.end().catch(() => {}))
  }
  begin()
  return async () => {
    stopped = true
    clearTimeout(timer)
    await client?.end().catch(() => {})
  }
}

async function connect(pool: pg.Pool): Promise<pg.PoolClient> {
  try {
    return await pool.connect()
  } catch (error) {
    throw isUnavailable(error) ? new DatabaseUnavailable(error) : error
  }
}

async function run<R extends object>(client: pg.PoolClient, text: string, values: readonly Value[] = []) {
  const query = { text, values: values as unknown[], rowMode: 'array' as const, query_timeout: statementTimeoutMs }
  try {
    const result = await client.query(query)
    return {
      rows: toRows<R>(result.fields?.map((field) => field.name) ?? [], result.rows),
      count: result.rowCount ?? 0,
    }
  } catch (error) {
    throw isUnavailable(error) ? new DatabaseUnavailable(error) : error
  }
}

async function commit(client: pg.PoolClient): Promise<void> {
  let command: string
  try {
    ;({ command } = await client.query('commit'))
  } catch (error) {
    // A server that answers COMMIT with an error of its own (a deferred constraint) has rolled back; silence tells nothing.
    throw isUnavailable(error) ? new DatabaseUnavailable(error, true) : error
  }
  // PostgreSQL answers COMMIT of a failed transaction with ROLLBACK and no error.
  if (command !== 'COMMIT') throw new Error(`the transaction was rolled back instead of committed (${command})`)
}

// Connection trouble, as opposed to a mistake in a statement: no SQLSTATE at all, or one of the classes that say "not now".
function isUnavailable(error: unknown): boolean {
  const code = (error as { code?: unknown }).code
  if (typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code)) return /^(08|57P|53|58)/.test(code)
  return true
}
