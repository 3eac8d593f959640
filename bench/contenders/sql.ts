// Ceiling (b): PostgreSQL itself, fed and emptied with batched SQL and no HTTP. A queue that does nothing else.
import pg from 'pg'
import { serveCommands } from '../lib/child.ts'
import { payloadOf } from '../lib/deliver.ts'
import { type PublishPlan, publishMany } from '../lib/publish.ts'

let pool: pg.Pool

serveCommands({
  async prepare({ databaseUrl, events }: { databaseUrl: string; events: number }) {
    pool = new pg.Pool({ connectionString: databaseUrl, max: 10 })
    await pool.query(
      'create table queue (id text primary key, payload bytea not null, done boolean not null default false)',
    )
    await pool.query('create index queue_waiting on queue (id) where not done')
    for (let done = 0; done < events; done += 1_000) await addMany(done, 1_000)
  },
  publish: (plan: PublishPlan) => publishMany(plan, (i) => addMany(i, 1), addMany),
  // Claims and settles all of it, two hundred at a time; seconds it took.
  async claimAll(): Promise<number> {
    const startedAt = performance.now()
    for (;;) {
      const { rows } = await pool.query(
        `select id, payload from queue where not done order by id limit 200 for update skip locked`,
      )
      if (rows.length === 0) return (performance.now() - startedAt) / 1_000
      await pool.query('update queue set done = true where id = any($1)', [rows.map((row) => row.id)])
    }
  },
  start() {},
  remaining: () => 0,
})

let run = 0
function addMany(from: number, count: number): Promise<unknown> {
  const ids = Array.from({ length: count }, (_, i) => `sql-${String(++run).padStart(9, '0')}-${from + i}`)
  return pool.query('insert into queue (id, payload) select * from unnest($1::text[], $2::bytea[])', [
    ids,
    ids.map((id) => payloadOf(id)),
  ])
}
