// PostgreSQL, pooled. Promises: whatever happens to a connection or the server, every query ends; a lost connection becomes
// DatabaseUnavailable and the next query gets a new one; a COMMIT without an answer is reported as unknown, never as a failure.
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { fromDatabase } from '../times.ts'
import { toParameter } from './arrays.ts'
import { DatabaseUnavailable, type Db, type Queryable, type Tx, toRows, type Value } from './db.ts'

const listenAgainMs = 1_000
const statementTimeoutMs = 10_000 // a database that hangs counts as one that is away
const connectTimeoutMs = 5_000 // also how long to wait for a free connection
const urgentTimeoutMs = 2_000
const closeWithinMs = 5_000
const goodbyeMs = 1_000
const deadlockDetected = '40P01'
// A process that is stopped in the middle of a transaction (SIGSTOP, a machine that sleeps) must not keep its locks from others.
const begin = `begin; set local idle_in_transaction_session_timeout = 5000`
const mostRuns = 5

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
  const createPool = (max: number, timeoutMs: number) => {
    const pool = new pg.Pool({
      connectionString: url,
      max,
      connectionTimeoutMillis: timeoutMs,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
      allowExitOnIdle: true, // at the end, a goodbye that a hanging server does not answer must not keep the process
      types,
      application_name: 'partner-service',
    })
    pool.on('error', onIdleError) // an idle connection broke: the pool drops it and opens another when needed
    // One that breaks while it is in use tells so to its query; without a listener the event would also end the process.
    pool.on('connect', (client) => client.on('error', () => {}))
    return pool
  }
  const pool = createPool(Math.max(1, poolSize - 1), connectTimeoutMs)
  const urgentPool = createPool(1, urgentTimeoutMs)

  const once: Db['transaction'] = async (work) => {
    const client = await connect(pool)
    let result: Awaited<ReturnType<typeof work>>
    try {
      await unlessUnavailable(client.query({ text: begin, query_timeout: statementTimeoutMs } as pg.QueryConfig))
      result = await work(transactionOn(client))
    } catch (error) {
      // A connection that broke is not reused; on one that holds, the transaction is taken back first.
      const held = !(error instanceof DatabaseUnavailable) && (await succeeds(run(client, 'rollback')))
      client.release(!held)
      throw error
    }
    await commit(client)
    return result
  }

  return {
    kind: 'postgres',
    query: queryOn(pool, statementTimeoutMs),
    urgent: { query: queryOn(urgentPool, urgentTimeoutMs) },
    // Whom PostgreSQL chose to end a deadlock has changed nothing and runs again: the other is done by then.
    async transaction(work) {
      for (let runs = 1; ; runs++) {
        try {
          return await once(work)
        } catch (error) {
          if ((error as { code?: string }).code !== deadlockDetected || runs === mostRuns) throw error
        }
      }
    },
    listen: (channel, onMessage) => keepListening(directUrl ?? url, channel, onMessage),
    async close() {
      // A COMMIT that is never answered does not hold up the end.
      await Promise.race([Promise.all([pool.end(), urgentPool.end()]), sleep(closeWithinMs, undefined, { ref: false })])
    },
  }
}

// A connection of its own, past any pooler; when it breaks, another after a second. Whoever listens also polls.
function keepListening(url: string, channel: string, onMessage: () => void): () => Promise<void> {
  let client: pg.Client | undefined
  let timer: NodeJS.Timeout | undefined
  const begin = () => {
    const mine = new pg.Client({ connectionString: url, keepAlive: true, connectionTimeoutMillis: connectTimeoutMs })
    client = mine
    const again = () => {
      if (client !== mine) return
      client = undefined
      timer = setTimeout(begin, listenAgainMs)
      mine.end().catch(() => {})
    }
    mine.on('error', again)
    mine.on('end', again)
    mine.on('notification', onMessage)
    mine
      .connect()
      .then(() => mine.query(`listen ${channel}`))
      .then(onMessage, again) // whatever was sent while nobody listened
  }
  begin()
  return async () => {
    const last = client
    client = undefined
    clearTimeout(timer)
    if (last) await goodbye(last)
  }
}

// A server that hangs does not answer a goodbye either.
async function goodbye(client: pg.Client): Promise<void> {
  const answered = client.end().catch(() => {})
  await Promise.race([answered, sleep(goodbyeMs, undefined, { ref: false })])
  ;(client as unknown as { connection: { stream: Socket } }).connection.stream.destroy()
}

function queryOn(pool: pg.Pool, timeoutMs: number): Queryable['query'] {
  return async (text, values) => {
    const client = await connect(pool)
    try {
      const result = await run<never>(client, text, values, timeoutMs)
      client.release()
      return result
    } catch (error) {
      client.release(error instanceof DatabaseUnavailable)
      throw error
    }
  }
}

// Whatever keeps a connection from being had, a wrong password included, the database cannot be used now.
async function connect(pool: pg.Pool): Promise<pg.PoolClient> {
  try {
    return await pool.connect()
  } catch (error) {
    throw new DatabaseUnavailable(error)
  }
}

async function run<R extends object>(
  client: pg.PoolClient,
  text: string,
  values: readonly Value[] = [],
  timeoutMs = statementTimeoutMs,
) {
  const query = { text, values: values.map(toParameter), rowMode: 'array' as const, query_timeout: timeoutMs }
  const result = await unlessUnavailable(client.query(query))
  return {
    rows: toRows<R>(result.fields?.map((field) => field.name) ?? [], result.rows),
    count: result.rowCount ?? 0,
  }
}

function transactionOn(client: pg.PoolClient): Tx {
  return {
    inTransaction: true,
    query: ((text, values) => run(client, text, values)) as Queryable['query'],
    async script(sql) {
      await unlessUnavailable(client.query(sql))
    },
  }
}

// A COMMIT is never cancelled or timed out: its connection waits for the answer however long it takes. Only the caller does not
// wait for ever; it is told that the outcome is unknown.
async function commit(client: pg.PoolClient): Promise<void> {
  const answer = client.query('commit')
  answer.then(
    () => client.release(),
    () => client.release(true),
  )
  let patience: NodeJS.Timeout | undefined
  const silence = new Promise<never>((_, reject) => {
    patience = setTimeout(
      () => reject(new DatabaseUnavailable('COMMIT has not been answered', true)),
      statementTimeoutMs,
    )
  })
  try {
    // A server that answers COMMIT with an error of its own (a deferred constraint) has rolled back; silence tells nothing.
    const { command } = await Promise.race([unlessUnavailable(answer, true), silence])
    // PostgreSQL answers COMMIT of a failed transaction with ROLLBACK and no error.
    if (command !== 'COMMIT') throw new Error(`the transaction was rolled back instead of committed (${command})`)
  } finally {
    clearTimeout(patience)
  }
}

async function succeeds(answer: Promise<unknown>): Promise<boolean> {
  return answer.then(
    () => true,
    () => false,
  )
}

async function unlessUnavailable<T>(answer: Promise<T>, commitUnknown = false): Promise<T> {
  try {
    return await answer
  } catch (error) {
    throw isUnavailable(error) ? new DatabaseUnavailable(error, commitUnknown) : error
  }
}

// Connection trouble, as opposed to a mistake in a statement: no answer from the server at all, or one of those that say "not
// now": connection, resources, operator intervention, system, and a primary that has become a standby.
function isUnavailable(error: unknown): boolean {
  return !(error instanceof pg.DatabaseError) || /^(08|53|57|58|25006|25P03)/.test(error.code ?? '')
}
