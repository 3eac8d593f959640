// How deliveries fare, for people to look at: counted in memory by endpoint and added to the database every two seconds, so that no
// delivery costs a write. A process that is killed takes its last two seconds of counts with it; the events themselves lose nothing.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Context } from '../context.ts'
import type { Queryable } from '../db/db.ts'
import { addCounts, bucketEnds, bucketOf } from '../webhooks/latency.ts'
import type { Lane } from './lane.ts'
import { isSuccess } from './outcome.ts'
import type { Result } from './settle.ts'

const flushEveryMs = 2_000
const stopWithinMs = 1_000
const tidyEveryMs = 10 * 60_000
const mostEndpoints = 20_000 // counted between two writes; more can only be when the database is away

interface Count {
  readonly partnerId: string
  readonly subscriptionId: string
  delivered: number
  failed: number
  durationMs: number
  readonly durations: number[]
  failure: Result | undefined // the latest
}

export interface DeliveryStatistics {
  count(result: Result): void // once it is settled
  stop(): Promise<void>
}

export function keepStatistics(ctx: Context): DeliveryStatistics {
  let counts = new Map<string, Count>()
  let writing: Promise<void> = Promise.resolve()
  let tidiedAt = Number.NEGATIVE_INFINITY

  // Should a write fail whose answer got lost, its counts may be added twice: they are for looking at, not for billing.
  const flush = async () => {
    if (counts.size > 0) {
      const taken = [...counts.values()]
      counts = new Map()
      // First, so that whoever sees a failure counted also finds it.
      await storeFailures(ctx.db, taken).catch(() => {}) // the next failure will do
      await addStatistics(ctx.db, taken).catch((error: Error) => {
        ctx.log.warn({ error: error.message }, 'could not write delivery statistics')
        for (const count of taken) takeBack(counts, count)
      })
    }
    if (performance.now() - tidiedAt < tidyEveryMs) return
    tidiedAt = performance.now()
    await dropOldStatistics(ctx.db).catch(() => {}) // the next time will do
  }
  const flushSoon = () => {
    writing = writing.then(flush)
    return writing
  }
  const timer = setInterval(flushSoon, flushEveryMs)
  timer.unref()

  return {
    count(result) {
      const { lane, outcome } = result
      let count = counts.get(lane.id)
      if (!count) {
        count = emptyCount(lane)
        counts.set(lane.id, count)
      }
      if (isSuccess(outcome)) count.delivered++
      else {
        count.failed++
        count.failure = result
      }
      count.durationMs += outcome.durationMs
      count.durations[bucketOf(outcome.durationMs)]!++
    },
    async stop() {
      clearInterval(timer)
      await Promise.race([flushSoon(), sleep(stopWithinMs, undefined, { ref: false })])
    },
  }
}

function takeBack(counts: Map<string, Count>, count: Count): void {
  const newer = counts.get(count.subscriptionId)
  if (!newer) {
    if (counts.size < mostEndpoints) counts.set(count.subscriptionId, count)
    return
  }
  newer.delivered += count.delivered
  newer.failed += count.failed
  newer.durationMs += count.durationMs
  addCounts(newer.durations, count.durations)
  newer.failure ??= count.failure
}

function emptyCount({ id, partnerId }: Lane): Count {
  const durations = new Array<number>(bucketEnds.length).fill(0)
  return { partnerId, subscriptionId: id, delivered: 0, failed: 0, durationMs: 0, durations, failure: undefined }
}

// Into the current minute, quarter of an hour and hour, by the database's clock. In one order, so that no two processes wait for each
// other in a circle.
async function addStatistics(db: Queryable, counts: readonly Count[]): Promise<void> {
  await db.query(
    `insert into delivery_statistics as t (partner_id, span_seconds, at, subscription_id, delivered, failed, duration_ms, durations)
     select n.partner_id, s.span, date_bin(s.span * interval '1 second', now(), timestamptz 'epoch'), n.subscription_id,
       n.delivered, n.failed, n.duration_ms, string_to_array(n.durations, ' ')::int[]
     from unnest($1::text[], $2::text[], $3::int[], $4::int[], $5::bigint[], $6::text[])
         as n (partner_id, subscription_id, delivered, failed, duration_ms, durations),
       (values (60), (900), (3600)) as s (span)
     order by n.partner_id, s.span, n.subscription_id
     on conflict (partner_id, span_seconds, at, subscription_id) do update set
       delivered = t.delivered + excluded.delivered, failed = t.failed + excluded.failed,
       duration_ms = t.duration_ms + excluded.duration_ms,
       durations = array(select a + b from unnest(t.durations, excluded.durations) with ordinality as u (a, b, i) order by i)`,
    [
      counts.map((each) => each.partnerId),
      counts.map((each) => each.subscriptionId),
      counts.map((each) => each.delivered),
      counts.map((each) => each.failed),
      counts.map((each) => each.durationMs),
      counts.map((each) => each.durations.join(' ')),
    ],
  )
}

async function storeFailures(db: Queryable, counts: readonly Count[]): Promise<void> {
  const failures = counts.flatMap(({ failure }) => failure ?? []).sort((a, b) => (a.lane.id < b.lane.id ? -1 : 1))
  if (failures.length === 0) return
  const nowMs = performance.now()
  await db.query(
    `insert into endpoint_failures as t (partner_id, subscription_id, at, event_id, status, error_kind)
     select n.partner_id, n.subscription_id, now() - n.age_ms * interval '1 millisecond', n.event_id, n.status, n.kind
     from unnest($1::text[], $2::text[], $3::float8[], $4::text[], $5::int[], $6::text[])
       as n (partner_id, subscription_id, age_ms, event_id, status, kind)
     order by n.partner_id, n.subscription_id
     on conflict (partner_id, subscription_id) do update set
       at = excluded.at, event_id = excluded.event_id, status = excluded.status, error_kind = excluded.error_kind
       where t.at < excluded.at`,
    [
      failures.map(({ lane }) => lane.partnerId),
      failures.map(({ lane }) => lane.id),
      failures.map(({ outcome, endedAtMs }) => nowMs - endedAtMs + outcome.durationMs),
      failures.map(({ entry }) => entry.id),
      failures.map(({ outcome }) => (outcome.kind === 'status' ? outcome.status : null)),
      failures.map(({ outcome }) => (outcome.kind === 'status' ? null : outcome.kind)),
    ],
  )
}

// Uses delivery_statistics_at. Each span as long as something reads it.
async function dropOldStatistics(db: Queryable): Promise<void> {
  for (const [span, keptFor] of [
    [60, '2 hours'],
    [900, '2 days'],
    [3_600, '8 days'],
  ] as const) {
    await db.query(`delete from delivery_statistics where span_seconds = $1 and at < now() - $2::interval`, [
      span,
      keptFor,
    ])
  }
  await db.query(`delete from endpoint_failures where at < now() - interval '60 days'`) // of endpoints long gone, mostly
}
