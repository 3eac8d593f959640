// Settling: what became of attempts, written in small batches, each one transaction behind the fence. The lane's owner and the count
// of tries are part of the match: nothing is written for a lane that is another's, and nothing twice after an unknown commit.
import type { Context } from '../context.ts'
import { DatabaseUnavailable, type Tx } from '../db/db.ts'
import { tellAttempts } from '../live/entries.ts'
import type { Timestamp } from '../times.ts'
import type { Entry, HealthChange, Lane } from './lane.ts'
import { isSuccess, type Outcome, reasonOf } from './outcome.ts'
import { holdFence } from './queries.ts'
import { retryDelayMs } from './retry.ts'

const mostInOneCommit = 200
const waitAfterTroubleMs = 250

export interface Result {
  readonly lane: Lane
  readonly entry: Entry
  readonly outcome: Outcome
  readonly url: string
  readonly endedAtMs: number
  readonly health: HealthChange
}

export interface Settled {
  readonly id: string
  readonly state: string
  readonly dueAt: Timestamp
  readonly retryInMs: number | undefined
}

export interface SettlerOptions {
  readonly worker: () => string
  readonly settled: (result: Result, row: Settled | undefined) => void
  readonly fenced: () => void // this worker was declared dead: nothing of it may be written any more
  readonly alsoWrite: (tx: Tx, results: readonly Result[]) => Promise<void> // health of lanes, disabling, operational news
}

export interface Settler {
  add(result: Result): void
  waiting(): number
  entries(): { lane: Lane; entry: Entry }[] // ended, but not yet written
  idle(): Promise<void>
  forget(): void
  stop(): void // gives up what cannot be written
}

export function createSettler(ctx: Context, options: SettlerOptions): Settler {
  let results: Result[] = []
  let running: Promise<void> | undefined
  let underWay: readonly Result[] = []
  let stopped = false

  const run = async () => {
    while (results.length > 0) {
      // In the order of ids, as everyone who locks several events, so that none waits for another in a circle.
      const batch = results.splice(0, mostInOneCommit).sort((a, b) => (a.entry.id < b.entry.id ? -1 : 1))
      underWay = batch
      await settleBatch(batch)
      underWay = []
    }
    running = undefined
  }
  const settleBatch = async (batch: readonly Result[]) => {
    const worker = options.worker()
    while (!stopped) {
      try {
        const rows = await ctx.db.transaction((tx) => write(ctx, tx, worker, batch, options.alsoWrite))
        if (worker !== options.worker()) return
        if (!rows) return options.fenced()
        for (const result of batch) options.settled(result, rows.get(result.entry.id))
        return
      } catch (error) {
        if (worker !== options.worker()) return
        if (!(error instanceof DatabaseUnavailable)) ctx.log.error({ err: error }, 'settling failed')
        await new Promise((resolve) => setTimeout(resolve, waitAfterTroubleMs))
      }
    }
  }
  return {
    add(result) {
      results.push(result)
      // One turn later: answers that came together are written together.
      running ??= new Promise<void>((resolve) => setImmediate(resolve)).then(run)
    },
    waiting: () => results.length + underWay.length,
    entries: () => [...underWay, ...results],
    async idle() {
      while (running) await running
    },
    forget() {
      results = []
    },
    stop() {
      stopped = true
      results = []
    },
  }
}

async function write(
  ctx: Context,
  tx: Tx,
  worker: string,
  batch: readonly Result[],
  alsoWrite: SettlerOptions['alsoWrite'],
): Promise<Map<string, Settled> | undefined> {
  if (!(await holdFence(tx, worker))) return undefined
  // Subscriptions, then lanes, then events: the order in which everyone locks them.
  await alsoWrite(tx, batch)
  const decisions = batch.map(({ entry, outcome }) => decide(entry, outcome, ctx.config.webhookRetryScheduleMs))
  const nowMs = performance.now()
  // The lane's owner is asked for row by row: as a join, without statistics, the planner tried every lane with every row.
  const { rows } = await tx.query<{ id: string; state: string; dueAt: Timestamp }>(
    `with n as (
       select * from unnest($1::text[], $2::text[], $3::int[], $4::bool[], $5::text[], $6::float8[], $7::float8[], $8::int[], $9::text[], $10::text[], $11::text[], $12::int[], $13::bytea[])
         as n (partner_id, id, tries, success, state, retry_in_ms, age_ms, status, reason, kind, detail, duration_ms, body)),
     urls as (select * from unnest($2::text[], $14::text[]) as u (id, url)),
     moved as (
       update events e set
         state = case when n.success then 'completed' when e.state <> 'pending' then e.state else n.state end,
         queue = 'r', tries = e.tries + 1, schedule_tries = e.schedule_tries + 1,
         due_at = case when n.retry_in_ms is null then e.due_at else now() + n.retry_in_ms * interval '1 millisecond' end,
         delivered_at = case when n.success then coalesce(e.delivered_at, now()) else e.delivered_at end,
         last_attempt_at = now() - n.age_ms * interval '1 millisecond', last_response_status = n.status,
         error_reason = case when n.success then null when e.state <> 'pending' then e.error_reason else n.reason end
       from n where e.partner_id = n.partner_id and e.id = n.id and e.tries = n.tries
         and (select l.owner from lanes l where l.subscription_id = e.subscription_id) = $15
       returning e.partner_id, e.id, e.tries, e.state, e.due_at, e.last_attempt_at),
     logged as (
       insert into attempts (partner_id, event_id, number, at, url, status, error_kind, error_detail, duration_ms, response_body)
       select m.partner_id, m.id, m.tries, m.last_attempt_at, u.url, n.status, n.kind, n.detail, n.duration_ms, n.body
       from moved m join n on n.partner_id = m.partner_id and n.id = m.id join urls u on u.id = m.id)
     select id, state, due_at from moved`,
    [
      batch.map(({ entry }) => entry.partnerId),
      batch.map(({ entry }) => entry.id),
      batch.map(({ entry }) => entry.tries),
      batch.map(({ outcome }) => isSuccess(outcome)),
      decisions.map(({ state }) => state),
      decisions.map(({ retryInMs }) => retryInMs ?? null),
      batch.map(({ outcome, endedAtMs }) => nowMs - endedAtMs + outcome.durationMs),
      batch.map(({ outcome }) => (outcome.kind === 'status' ? outcome.status : null)),
      batch.map(({ outcome }) => reasonOf(outcome)),
      batch.map(({ outcome }) => (outcome.kind === 'status' ? null : outcome.kind)),
      batch.map(({ outcome }) => (outcome.kind === 'status' ? null : outcome.detail)),
      batch.map(({ outcome }) => outcome.durationMs),
      batch.map(({ outcome }) => (outcome.kind === 'status' ? outcome.body : null)),
      batch.map(({ url }) => url),
      worker,
    ],
  )
  if (tx.isWatched) {
    const moved = new Set(rows.map((row) => row.id))
    const attempts = batch.map(({ entry: { partnerId, id, tries } }) => ({ partnerId, id, number: tries + 1 }))
    await tellAttempts(
      tx,
      attempts.filter(({ id }) => moved.has(id)),
    )
  }
  const retries = new Map(batch.map(({ entry }, i) => [entry.id, decisions[i]!.retryInMs]))
  return new Map(rows.map((row) => [row.id, { ...row, retryInMs: retries.get(row.id) }]))
}

// A resend is one attempt, so that its result is known at once; everything else follows the schedule.
function decide(
  { queue, scheduleTries }: Entry,
  outcome: Outcome,
  schedule: readonly number[],
): { state: string; retryInMs?: number } {
  if (isSuccess(outcome)) return { state: 'completed' }
  if (queue === 'm') return { state: 'error' }
  const retryInMs = retryDelayMs(
    schedule,
    scheduleTries + 1,
    outcome.kind === 'status' ? outcome.retryAfterMs : undefined,
  )
  return retryInMs === undefined ? { state: 'error' } : { state: 'pending', retryInMs }
}
