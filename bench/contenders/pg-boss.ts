// pg-boss as its docs advise for throughput: bulk insert, batches of 200 fetched by several workers, burst mode, notify for latency,
// no job metadata. A batch is one handler call: its jobs are sent together, their attempts written together.

import pg from 'pg'
import { PgBoss } from 'pg-boss'
import { createAttemptLog, createTable } from '../lib/attempts.ts'
import { serveCommands } from '../lib/child.ts'
import { createDeliver, type Job, jobOf, payloadOf } from '../lib/deliver.ts'
import { type PublishPlan, publishAtRate, publishMany, type RatePlan } from '../lib/publish.ts'

let boss: PgBoss
let pool: pg.Pool
let wanted: { databaseUrl: string; caFile: string; urls: string[]; events: number }
const queue = 'webhooks'

serveCommands({
  async prepare(args: typeof wanted) {
    wanted = args
    pool = new pg.Pool({ connectionString: wanted.databaseUrl, max: 2 })
    await pool.query(createTable)
    boss = new PgBoss({
      connectionString: wanted.databaseUrl,
      max: 10,
      schedule: false,
      supervise: false,
      useListenNotify: true,
    })
    boss.on('error', () => {})
    await boss.start()
    await boss.createQueue(queue, { notify: true, retryLimit: 13, retryBackoff: true })
    for (let done = 0; done < wanted.events; done += 1_000) {
      await boss.insert(
        queue,
        Array.from({ length: Math.min(1_000, wanted.events - done) }, (_, i) => ({
          data: jobOf(wanted.urls, done + i),
        })),
      )
    }
  },
  async start() {
    const deliver = createDeliver(wanted.caFile)
    const attempts = createAttemptLog(wanted.databaseUrl)
    await boss.work<Job>(
      queue,
      {
        batchSize: 200,
        localConcurrency: 4,
        pollingIntervalSeconds: 0.5,
        notifyPollingIntervalSeconds: 0.5,
        burstWhenBatchFull: true,
      },
      async (jobs) => {
        const sent = await Promise.all(
          jobs.map(async ({ data: { id, url } }) => ({
            id,
            url,
            ...(await deliver({ id, url, body: payloadOf(id) })),
          })),
        )
        await attempts.write(sent)
      },
    )
  },
  async remaining() {
    const { rows } = await pool.query(
      `select count(*)::int as count from pgboss.job where state in ('created', 'retry', 'active')`,
    )
    return rows[0].count
  },
  publish: (plan: PublishPlan) =>
    publishMany(
      plan,
      (i) => boss.send(queue, jobOf(wanted.urls, i)),
      (from, count) =>
        boss.insert(
          queue,
          Array.from({ length: count }, (_, i) => ({ data: jobOf(wanted.urls, from + i) })),
        ),
    ),
  publishAtRate: (plan: RatePlan) =>
    publishAtRate(plan, async (i, id) => {
      await boss.send(queue, jobOf(wanted.urls, i, id))
      return id
    }),
  stop() {},
})
