// Partner Service itself, its own rooms put together as service.ts does, in one process: publisher, engine, sender, signer.
// Each endpoint is a subscription of a partner of its own.
import { pino } from 'pino'
import { parseConfig } from '../../src/config.ts'
import type { Context } from '../../src/context.ts'
import { startChangeFeed } from '../../src/db/changes.ts'
import { claimDatabase } from '../../src/db/installation.ts'
import { openDatabase } from '../../src/db/open.ts'
import { startEngine } from '../../src/delivery/engine.ts'
import { createSender } from '../../src/delivery/sender.ts'
import { createMetrics } from '../../src/metrics.ts'
import type { Actor } from '../../src/partners/audit.ts'
import { createPartner } from '../../src/partners/partners.ts'
import { startSigner } from '../../src/signing/signer.ts'
import { createPublisher, type Publisher, type Submission } from '../../src/webhooks/publisher.ts'
import { textOf } from '../../src/webhooks/publishing.ts'
import { createWaker, type Waker } from '../../src/webhooks/signals.ts'
import { createSubscriptions } from '../../src/webhooks/subscriptions.ts'
import { createTargetGuard } from '../../src/webhooks/target.ts'
import { serveCommands } from '../lib/child.ts'
import { orderOf } from '../lib/deliver.ts'
import { type PublishPlan, publishAtRate, publishMany, type RatePlan } from '../lib/publish.ts'

const bench: Actor = { kind: 'system', id: 'bench', name: 'bench', requestId: null }
let ctx: Context
let waker: Waker
let publisher: Publisher
let stopEngine: (() => Promise<void>) | undefined
let partners: string[] = []
let settings: { databaseUrl?: string; dataDir: string; caFile: string }

serveCommands({
  async prepare(wanted: typeof settings & { urls: string[]; events: number }) {
    settings = wanted
    const result = parseConfig({
      ...(wanted.databaseUrl ? { DATABASE_URL: wanted.databaseUrl } : {}),
      DATA_DIR: wanted.dataDir,
      WEBHOOK_CA_FILE: wanted.caFile,
      LOG_LEVEL: 'warn',
    })
    if (!result.ok) throw new Error(result.mistakes.join('\n'))
    const log = pino({ level: 'warn' }, pino.destination(2))
    const db = await openDatabase(result.config, log)
    await claimDatabase(db, 'sandbox')
    ctx = { config: result.config, db, log, metrics: createMetrics(), now: () => new Date() }
    waker = createWaker(ctx)
    publisher = createPublisher(ctx, waker)
    const guard = createTargetGuard(ctx.config)
    partners = []
    for (const url of wanted.urls) {
      await db.transaction(async (tx) => {
        const { id } = await createPartner(tx, bench, { name: 'Bench' })
        await createSubscriptions(tx, bench, guard, id, [{ url, events: ['order-closed'] }], () => '')
        partners.push(id)
      })
    }
    for (let done = 0; done < wanted.events; done += 1_000) await addMany(done, Math.min(1_000, wanted.events - done))
  },
  async start() {
    const feed = await startChangeFeed(ctx.db, ctx.log)
    const masterKeys = [{ version: 1, bytes: Buffer.alloc(32, 1) }]
    const signer = await startSigner(ctx, feed, masterKeys)
    stopEngine = await startEngine(ctx, signer, createSender(ctx.config, createTargetGuard(ctx.config)), waker)
  },
  async remaining() {
    const { rows } = await ctx.db.query<{ count: number }>(
      `select count(*)::int as count from events where state = 'pending'`,
    )
    return rows[0]!.count
  },
  publish: (plan: PublishPlan) => publishMany(plan, (i) => publisher.publish(submission(i)), addMany),
  publishAtRate: (plan: RatePlan) =>
    publishAtRate(plan, async (i, id) => (await publisher.publish({ ...submission(i), id })).event_ids[0]!),
  // Events that wait for the first endpoint alone.
  async pile(count: number) {
    for (let done = 0; done < count; done += 1_000) {
      await publisher.publishAll(Array.from({ length: 1_000 }, () => submission(++last * partners.length)))
    }
  },
  async stop() {
    await stopEngine?.()
    await ctx.db.close()
  },
})

let last = 1_000_000
let run = 0
function submission(i: number): Submission {
  const id = `ours-${++run}-${i}`
  const entities = { order: orderOf(id) }
  const partnerId = partners[i % partners.length]!
  return { partnerId, id, action: 'order-closed', entities, text: textOf(entities) }
}

function addMany(from: number, count: number): Promise<unknown> {
  return publisher.publishAll(Array.from({ length: count }, (_, i) => submission(from + i)))
}
