// The row that every contender writes about an attempt; those of PostgreSQL queues many at a time, each awaited by its job.
import pg from 'pg'

interface Attempt {
  readonly id: string
  readonly url: string
  readonly status: number
  readonly durationMs: number
}

export const createTable = `create table if not exists bench_attempts (
  event_id text not null, number int not null, at timestamptz not null default now(), url text not null, status int, duration_ms int,
  primary key (event_id, number))`

export function createAttemptLog(databaseUrl: string) {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 4 })
  let waiting: { attempt: Attempt; done: (error?: Error) => void }[] = []
  const flush = async () => {
    const batch = waiting
    waiting = []
    try {
      await write(batch.map((each) => each.attempt))
      for (const { done } of batch) done()
    } catch (error) {
      for (const { done } of batch) done(error as Error)
    }
  }
  const write = (attempts: readonly Attempt[]) =>
    pool.query(
      `insert into bench_attempts (event_id, number, url, status, duration_ms)
       select id, 1, url, status, ms from unnest($1::text[], $2::text[], $3::int[], $4::int[]) as a (id, url, status, ms)
       on conflict do nothing`,
      [
        attempts.map((each) => each.id),
        attempts.map((each) => each.url),
        attempts.map((each) => each.status),
        attempts.map((each) => each.durationMs),
      ],
    )
  return {
    write,
    add: (attempt: Attempt) =>
      new Promise<void>((resolve, reject) => {
        waiting.push({ attempt, done: (error) => (error ? reject(error) : resolve()) })
        if (waiting.length === 1) setImmediate(flush)
      }),
    close: () => pool.end(),
  }
}
