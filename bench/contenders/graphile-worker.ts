// graphile-worker as its docs advise for throughput: jobs added in bulk, a local queue, completions written in batches, as many
// jobs at once as we keep in flight. Attempts are written in batches too, each awaited by its job.
import { makeWorkerUtils, type Runner, run, type WorkerUtils } from 'graphile-worker'
import pg from 'pg'
import { createAttemptLog, createTable } from '../lib/attempts.ts'
import { serveCommands } from '../lib/child.ts'
import { createDeliver, type Job, jobOf, payloadOf } from '../lib/deliver.ts'
import { type PublishPlan, publishAtRate, publishMany, type RatePlan } from '../lib/publish.ts'

let wanted: { databaseUrl: string; caFile: string; urls: string[]; events: number }
let utils: WorkerUtils
let pool: pg.Pool
let runner: Runner | undefined
const task = 'deliver'

serveCommands({
  async prepare(args: typeof wanted) {
    wanted = args
    pool = new pg.Pool({ connectionString: wanted.databaseUrl, max: 10 })
    await pool.query(createTable)
    utils = await makeWorkerUtils({ pgPool: pool, logger: quiet as never })
    await utils.migrate()
    for (let done = 0; done < wanted.events; done += 1_000) {
      await addMany(done, Math.min(1_000, wanted.events - done))
    }
  },
  async start() {
    const deliver = createDeliver(wanted.caFile)
    const attempts = createAttemptLog(wanted.databaseUrl)
    runner = await run({
      preset: {
        worker: {
          connectionString: wanted.databaseUrl,
          concurrentJobs: 500,
          maxPoolSize: 10,
          pollInterval: 500,
          localQueue: { size: 1_000 },
          completeJobBatchDelay: 5,
          failJobBatchDelay: 5,
        },
      } as never,
      logger: quiet as never,
      noHandleSignals: true,
      taskList: {
        async [task](payload) {
          const { id, url } = payload as Job
          await attempts.add({ id, url, ...(await deliver({ id, url, body: payloadOf(id) })) })
        },
      },
    })
  },
  async remaining() {
    const { rows } = await pool.query('select count(*)::int as count from graphile_worker.jobs')
    return rows[0].count
  },
  publish: (plan: PublishPlan) =>
    publishMany(plan, (i) => utils.addJob(task, jobOf(wanted.urls, i), { maxAttempts: 13 }), addMany),
  publishAtRate: (plan: RatePlan) =>
    publishAtRate(plan, async (i, id) => {
      await utils.addJob(task, jobOf(wanted.urls, i, id), { maxAttempts: 13 })
      return id
    }),
  async stop() {
    await runner?.stop()
  },
})

async function addMany(from: number, count: number): Promise<unknown> {
  return utils.addJobs(
    Array.from({ length: count }, (_, i) => ({
      identifier: task,
      payload: jobOf(wanted.urls, from + i),
      maxAttempts: 13,
    })),
  )
}

const nothing = () => {}
const quiet = { error: nothing, warn: nothing, info: nothing, debug: nothing, scope: () => quiet }
