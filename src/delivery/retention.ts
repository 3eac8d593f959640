// Retention: finished events, their attempts, publishers' ids and the lanes of deleted subscriptions go after a while, in small
// steps, each a transaction of its own that waits for nobody. Pending events are never dropped. Beside it: how much is waiting.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Context } from '../context.ts'
import { firstIdAt } from '../ids.ts'
import type { Timestamp } from '../times.ts'
import { signalLanes } from '../webhooks/signals.ts'

const rowsInOneStep = 1_000
const roundEveryMs = 60_000
const measureEveryMs = 15_000
const measureShare = 0.01 // of the time at most: counting a long queue takes a while
const mostCounted = 1_000_000

// One round, until nothing old is left or `goOn` says no. Between steps it rests as long as a step took.
export async function dropOld(ctx: Context, goOn: () => boolean = () => true): Promise<void> {
  const before = new Date(ctx.now().getTime() - ctx.config.retentionMs)
  const steps = async <P>(step: (from: P | null) => Promise<{ count: number; last: P | null }>) => {
    for (let from: P | null = null; goOn(); ) {
      const startedAt = performance.now()
      const { count, last } = await step(from)
      if (count < rowsInOneStep) return
      from = last
      await sleep(performance.now() - startedAt)
    }
  }
  for (const partnerId of await partnersWithOldEvents(ctx, before)) {
    await steps((from: string | null) => dropEvents(ctx, partnerId, before, from))
  }
  await steps((from: Timestamp | null) => dropPublications(ctx, before, from))
  await steps(() => dropLanes(ctx, before))
}

async function partnersWithOldEvents(ctx: Context, before: Date): Promise<string[]> {
  const { rows } = await ctx.db.query<{ id: string }>(
    `select p.id from partners p
     where exists (select 1 from events e where e.partner_id = p.id and e.id < $1 and e.state <> 'pending')`,
    [firstIdAt('evt', before.getTime())],
  )
  return rows.map((row) => row.id)
}

// Each step goes on where the last one ended, so that the rows it left dead are not walked over again.
async function dropEvents(ctx: Context, partnerId: string, before: Date, from: string | null) {
  return ctx.db.transaction(async (tx) => {
    const { rows } = await tx.query<{ id: string }>(
      `with old as (
         select partner_id, id from events where partner_id = $1 and id > $2 and id < $3 and state <> 'pending'
         order by id limit ${rowsInOneStep} for update skip locked)
       delete from events e using old where e.partner_id = old.partner_id and e.id = old.id returning e.id`,
      [partnerId, from ?? '', firstIdAt('evt', before.getTime())],
    )
    const ids = rows.map((row) => row.id).sort()
    await tx.query('delete from attempts where partner_id = $1 and event_id = any($2)', [partnerId, ids])
    return { count: ids.length, last: ids.at(-1) ?? null }
  })
}

async function dropPublications(ctx: Context, before: Date, from: Timestamp | null) {
  const { rows } = await ctx.db.query<{ count: number; last: Timestamp | null }>(
    `with old as (
       select partner_id, id from publications where created_at >= $1 and created_at < $2
       order by created_at limit ${rowsInOneStep} for update skip locked),
     dropped as (
       delete from publications p using old where p.partner_id = old.partner_id and p.id = old.id returning p.created_at)
     select count(*)::int as count, max(created_at) as last from dropped`,
    [from ?? '-infinity', before.toISOString()],
  )
  return rows[0]!
}

// Its owner is told, and forgets it.
async function dropLanes(ctx: Context, before: Date) {
  return ctx.db.transaction(async (tx) => {
    const { rows } = await tx.query<{ id: string }>(
      `delete from lanes where subscription_id in (
         select l.subscription_id from lanes l join subscriptions s on s.partner_id = l.partner_id and s.id = l.subscription_id
         where s.deleted_at < $1
           and not exists (select 1 from events e where e.subscription_id = l.subscription_id and e.state = 'pending')
         limit ${rowsInOneStep} for update of l skip locked)
       returning subscription_id as id`,
      [before.toISOString()],
    )
    const ids = rows.map((row) => row.id)
    await signalLanes(tx, ids, '*')
    return { count: ids.length, last: null }
  })
}

export function startRetention(ctx: Context): () => Promise<void> {
  const waiting = { depth: 0, oldestSeconds: 0 }
  ctx.metrics.gauge(
    'webhook_queue_depth',
    `Events waiting for delivery, counted up to ${mostCounted}.`,
    () => waiting.depth,
  )
  ctx.metrics.gauge(
    'webhook_oldest_due_seconds',
    'How long the event that is due longest has been waiting.',
    () => waiting.oldestSeconds,
  )
  const measure = async () => {
    const { rows } = await ctx.db.query<{ depth: number; oldest: number }>(
      `select count(*)::int as depth, coalesce(extract(epoch from now() - min(due_at) filter (where due_at <= now())), 0)::float8 as oldest
       from (select due_at from events where state = 'pending' limit ${mostCounted}) pending`,
    )
    waiting.depth = rows[0]!.depth
    waiting.oldestSeconds = rows[0]!.oldest
  }
  const stopping = new AbortController()
  const goOn = () => !stopping.signal.aborted
  const every = async (ms: number, share: number, work: () => Promise<void>) => {
    for (let tookMs = 0; ; ) {
      await sleep(Math.max(ms, tookMs / share), undefined, { signal: stopping.signal, ref: false }).catch(() => {})
      if (!goOn()) return
      const startedAt = performance.now()
      await work().catch((error: Error) => ctx.log.warn({ error: error.message }, 'retention could not go on'))
      tookMs = performance.now() - startedAt
    }
  }
  const loops = [every(roundEveryMs, 1, () => dropOld(ctx, goOn)), every(measureEveryMs, measureShare, measure)]
  return async () => {
    stopping.abort()
    await Promise.all(loops)
  }
}
