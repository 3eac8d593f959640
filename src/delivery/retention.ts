// Retention: finished events, their attempts and publishers' ids go after a while, oldest first, in small steps that hold no lock
// for long. Pending events are never dropped. The same rounds measure how much is waiting.
import type { Context } from '../context.ts'
import { firstIdAt } from '../ids.ts'

const rowsInOneStep = 1_000
const stepsInOneRound = 100
const roundEveryMs = 60_000
const measureEveryMs = 15_000
const mostCounted = 1_000_000

export async function dropOldEvents(ctx: Context, partnerId: string, before: string): Promise<number> {
  return ctx.db.transaction(async (tx) => {
    const { rows } = await tx.query<{ id: string }>(
      `with old as (
         select partner_id, id from events where partner_id = $1 and id < $2 and state <> 'pending' order by id limit $3 for update skip locked)
       delete from events e using old where e.partner_id = old.partner_id and e.id = old.id returning e.id`,
      [partnerId, before, rowsInOneStep],
    )
    await tx.query('delete from attempts where partner_id = $1 and event_id = any($2)', [
      partnerId,
      rows.map((row) => row.id),
    ])
    return rows.length
  })
}

async function round(ctx: Context): Promise<void> {
  const before = firstIdAt('evt', ctx.now().getTime() - ctx.config.retentionMs)
  const { rows: partners } = await ctx.db.query<{ id: string }>('select id from partners')
  let steps = 0
  for (const { id } of partners) {
    while (steps++ < stepsInOneRound && (await dropOldEvents(ctx, id, before)) === rowsInOneStep);
  }
  await ctx.db.query(
    `delete from publications where (partner_id, id) in (
       select partner_id, id from publications where created_at < now() - $1 * interval '1 millisecond' limit ${rowsInOneStep * 10})`,
    [ctx.config.retentionMs],
  )
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
  let running: Promise<unknown> = Promise.resolve()
  const every = (ms: number, work: () => Promise<void>) => {
    const timer = setInterval(() => {
      running = work().catch((error: Error) => ctx.log.warn({ error: error.message }, 'retention could not go on'))
    }, ms)
    timer.unref()
    return timer
  }
  const timers = [every(roundEveryMs, () => round(ctx)), every(measureEveryMs, measure)]
  return async () => {
    for (const timer of timers) clearInterval(timer)
    await running
  }
}
