// BullMQ on Redis: jobs added in bulk, as many at once as we keep in flight. A finished job keeps its result, which is the record
// of its attempt. What it survives is decided by the server's `appendfsync`.
import { Queue, Worker } from 'bullmq'
import { serveCommands } from '../lib/child.ts'
import { createDeliver, type Job, jobOf, payloadOf } from '../lib/deliver.ts'
import { type PublishPlan, publishAtRate, publishMany, type RatePlan } from '../lib/publish.ts'

let wanted: { redisPort: number; caFile: string; urls: string[]; events: number }
let queue: Queue<Job>
const options = { attempts: 13, backoff: { type: 'exponential', delay: 5_000 } }

serveCommands({
  async prepare(args: typeof wanted) {
    wanted = args
    queue = new Queue('webhooks', { connection: { host: '127.0.0.1', port: wanted.redisPort } })
    for (let done = 0; done < wanted.events; done += 1_000) await addMany(done, Math.min(1_000, wanted.events - done))
  },
  async start() {
    const deliver = createDeliver(wanted.caFile)
    new Worker<Job>('webhooks', ({ data: { id, url } }) => deliver({ id, url, body: payloadOf(id) }), {
      connection: { host: '127.0.0.1', port: wanted.redisPort },
      concurrency: 500,
    })
  },
  async remaining() {
    const counts = await queue.getJobCounts('waiting', 'active', 'prioritized', 'delayed')
    return Object.values(counts).reduce((sum, each) => sum + each, 0)
  },
  publish: (plan: PublishPlan) =>
    publishMany(plan, (i) => queue.add('deliver', jobOf(wanted.urls, i), options), addMany),
  publishAtRate: (plan: RatePlan) =>
    publishAtRate(plan, async (i, id) => {
      await queue.add('deliver', jobOf(wanted.urls, i, id), options)
      return id
    }),
  stop() {},
})

function addMany(from: number, count: number): Promise<unknown> {
  return queue.addBulk(
    Array.from({ length: count }, (_, i) => ({ name: 'deliver', data: jobOf(wanted.urls, from + i), opts: options })),
  )
}
