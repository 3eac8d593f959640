// What happens to orders by itself: they expire, the sandbox rail pays them, and a payout that takes too long raises an alert.
// All of it is read from the database, so it survives restarts, and any number of processes may do it at once.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Context } from '../context.ts'
import { tellOrder } from '../live/entries.ts'
import { emitOperational } from '../webhooks/operations.ts'
import { emit } from '../webhooks/publishing.ts'
import type { Waker } from '../webhooks/signals.ts'
import { countWaiting, expireOrders, markOverdue } from './job-queries.ts'
import { stepSandboxRail } from './sandbox-rail.ts'
import { orderStates, transitionFrom } from './states.ts'
import { orderNews, orderView } from './views.ts'

const expireEveryMs = 1_000
const watchEveryMs = 5_000
const railEveryMs = 250
const measureEveryMs = 15_000
const ordersInOneStep = 100
const overdueAfter = '1 hour'

export function startOrderJobs(ctx: Context, waker: Waker): () => Promise<void> {
  const stopping = new AbortController()
  const goOn = () => !stopping.signal.aborted
  const every = async (ms: number, what: string, work: () => Promise<unknown>) => {
    while (goOn()) {
      await work().catch((error: Error) => goOn() && ctx.log.warn({ error: error.message }, `${what} could not go on`))
      await sleep(ms, undefined, { signal: stopping.signal, ref: false }).catch(() => {})
    }
  }
  // Each step is a transaction of its own, until one finds nothing to do.
  const steps = (step: () => Promise<boolean>) => async () => {
    while (goOn() && (await step())) waker.wake()
  }
  const jobs = [
    every(
      expireEveryMs,
      'the expiry of orders',
      steps(() => stepExpiry(ctx)),
    ),
    every(
      watchEveryMs,
      'the watch over payouts',
      steps(() => stepOverdue(ctx)),
    ),
    every(measureEveryMs, 'counting orders', measureWaiting(ctx)),
  ]
  if (ctx.config.payoutRail === 'sandbox') {
    jobs.push(
      every(
        railEveryMs,
        'the sandbox rail',
        steps(() => ctx.db.transaction(stepSandboxRail)),
      ),
    )
  }
  return async () => {
    stopping.abort()
    await Promise.all(jobs)
  }
}

async function stepExpiry(ctx: Context): Promise<boolean> {
  const { to, reason, event } = transitionFrom('awaiting_confirmation', 'expire')!
  const expired = await ctx.db.transaction(async (tx) => {
    const rows = await expireOrders(tx, to, reason!, ordersInOneStep)
    for (const row of rows) await tellOrder(tx, row.partnerId, row.id, orderNews(row))
    await emit(
      tx,
      rows.map((row) => ({ partnerId: row.partnerId, action: event, entities: { partner_order: orderView(row) } })),
    )
    return rows.length
  })
  return expired > 0
}

async function stepOverdue(ctx: Context): Promise<boolean> {
  const overdue = await ctx.db.transaction(async (tx) => {
    const rows = await markOverdue(tx, overdueAfter, ordersInOneStep)
    for (const row of rows) {
      const order = { ...orderView(row), partner_id: row.partnerId, payout_id: row.payoutId, taken_by: row.takenBy }
      await emitOperational(ctx, tx, 'payout-overdue', row.id, { order })
    }
    return rows
  })
  for (const { id, payoutId, takenAt, takenBy } of overdue) {
    ctx.log.warn({ order_id: id, payout_id: payoutId, taken_at: takenAt, taken_by: takenBy }, 'a payout is overdue')
  }
  return overdue.length > 0
}

function measureWaiting(ctx: Context): () => Promise<void> {
  const counts = new Map<string, number>()
  let overdue = 0
  for (const state of orderStates.slice(0, 3)) {
    ctx.metrics.gauge(`orders_${state}`, `Orders that are ${state}.`, () => counts.get(state) ?? 0)
  }
  ctx.metrics.gauge('orders_overdue', `Orders taken by a rail for more than ${overdueAfter}.`, () => overdue)
  return async () => {
    const rows = await countWaiting(ctx.db, overdueAfter)
    counts.clear()
    for (const { state, count } of rows) counts.set(state, count)
    overdue = rows.reduce((sum, row) => sum + row.overdue, 0)
  }
}
