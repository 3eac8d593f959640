// The SQL that reads how deliveries fare: counts by time and by endpoint, durations, what is waiting, and how endpoints stand.
import type { Queryable } from '../db/db.ts'
import type { Timestamp } from '../times.ts'
import { bucketEnds } from './latency.ts'

// Counting what waits stops here: more is only "many".
export const mostPending = 10_000

export interface Span {
  readonly partnerId: string | null // null: all partners
  readonly spanSeconds: 60 | 900 | 3_600
  readonly from: Timestamp
  readonly subscriptionId: string | null
}

const inSpan = `($1::text is null or partner_id = $1) and span_seconds = $2 and at >= $3 and ($4::text is null or subscription_id = $4)`
const valuesOf = ({ partnerId, spanSeconds, from, subscriptionId }: Span) => [
  partnerId,
  spanSeconds,
  from,
  subscriptionId,
]

export interface TimeCount {
  at: Timestamp
  delivered: number
  failed: number
}

// Uses the primary key, or delivery_statistics_at for all partners.
export async function countByTime(db: Queryable, span: Span): Promise<TimeCount[]> {
  const { rows } = await db.query<TimeCount>(
    `select at, sum(delivered)::bigint as delivered, sum(failed)::bigint as failed
     from delivery_statistics where ${inSpan} group by at order by at`,
    valuesOf(span),
  )
  return rows
}

export interface EndpointCount {
  delivered: number
  failed: number
  readonly durations: number[]
}

// By subscription. Of `durations` only what is not zero comes over the wire.
export async function countByEndpoint(
  db: Queryable,
  span: Span,
  only: readonly string[] | null = null,
): Promise<Map<string, EndpointCount>> {
  const { rows } = await db.query<{ id: string; delivered: number; failed: number; bucket: number; count: number }>(
    `with chosen as (
       select subscription_id, delivered, failed, durations from delivery_statistics
       where ${inSpan} and ($5::text[] is null or subscription_id = any($5)))
     select subscription_id as id, sum(delivered)::bigint as delivered, sum(failed)::bigint as failed, -1 as bucket, 0::bigint as count
     from chosen group by subscription_id
     union all
     select subscription_id, 0, 0, (d.i - 1)::int, sum(d.n)::bigint
     from chosen, unnest(durations) with ordinality as d (n, i) where d.n > 0 group by subscription_id, d.i`,
    [...valuesOf(span), only],
  )
  const counts = new Map<string, EndpointCount>()
  for (const { id, delivered, failed, bucket, count } of rows) {
    const one = counts.get(id) ?? { delivered: 0, failed: 0, durations: new Array(bucketEnds.length).fill(0) }
    counts.set(id, one)
    if (bucket >= 0) one.durations[bucket] = count
    else Object.assign(one, { delivered, failed })
  }
  return counts
}

export interface EndpointRow {
  id: string
  partnerId: string
  url: string
  description: string
  state: 'enabled' | 'disabled'
  failingSince: Timestamp | null
  pausedUntil: Timestamp | null
  paused: boolean
  pending: number
  oldestPending: Timestamp | null
  errorAt: Timestamp | null
  errorEventId: string | null
  errorStatus: number | null
  errorKind: string | null
}

// What waits is counted in each of an endpoint's queues by events_queue, up to the limit.
export const endpointColumns = `s.id, s.partner_id, s.url, s.description, s.state, l.failing_since, l.paused_until,
  coalesce(l.paused_until > now(), false) as paused, w.pending, w.oldest_pending,
  f.at as error_at, f.event_id as error_event_id, f.status as error_status, f.error_kind`
export const endpointTables = `subscriptions s
  left join lanes l on l.subscription_id = s.id
  left join endpoint_failures f on f.partner_id = s.partner_id and f.subscription_id = s.id
  cross join lateral (
    select count(*)::int as pending, min(e.created_at) as oldest_pending
    from (values ('f'), ('m'), ('r')) as q (queue) cross join lateral (
      select created_at from events where subscription_id = s.id and queue = q.queue and state = 'pending'
      order by due_at limit ${mostPending}) e) w`

export async function listEndpoints(
  db: Queryable,
  partnerId: string,
  subscriptionId: string | null,
): Promise<EndpointRow[]> {
  const { rows } = await db.query<EndpointRow>(
    `select ${endpointColumns} from ${endpointTables}
     where s.partner_id = $1 and s.deleted_at is null and ($2::text is null or s.id = $2) order by s.id desc`,
    [partnerId, subscriptionId],
  )
  return rows
}

// The database's clock, and the start of the window that ends with the span under way.
export async function readWindow(db: Queryable, spanSeconds: number, spans: number) {
  const { rows } = await db.query<{ now: Timestamp; from: Timestamp }>(
    `select now() as now, date_bin($1 * interval '1 second', now(), timestamptz 'epoch') - $2 * interval '1 second' as "from"`,
    [spanSeconds, (spans - 1) * spanSeconds],
  )
  return rows[0]!
}
