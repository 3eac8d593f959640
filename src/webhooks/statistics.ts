// How deliveries fare, for their partner: over time, by endpoint, what waits and why. One look at a few hundred rows, whatever the
// traffic was.
import type { Db } from '../db/db.ts'
import { offsetMicros, offsetMicrosOrNull, utcSeconds, utcSecondsOrNull } from '../times.ts'
import { addCounts, percentiles } from './latency.ts'
import {
  countByEndpoint,
  countByTime,
  type EndpointCount,
  type EndpointRow,
  listEndpoints,
  readWindow,
} from './statistics-queries.ts'
import { noSuchSubscription } from './subscriptions.ts'

export const windows = {
  '1h': { spanSeconds: 60, spans: 60 },
  '24h': { spanSeconds: 900, spans: 96 },
  '7d': { spanSeconds: 3_600, spans: 168 },
} as const

export async function readStatistics(
  db: Db,
  partnerId: string,
  window: keyof typeof windows,
  subscriptionId: string | null,
) {
  const { spanSeconds, spans } = windows[window]
  const { now, from } = await readWindow(db, spanSeconds, spans)
  const span = { partnerId, spanSeconds, from, subscriptionId }
  const byEndpoint = await countByEndpoint(db, span)
  const byTime = new Map((await countByTime(db, span)).map((row) => [Date.parse(row.at), row]))
  const endpoints = await listEndpoints(db, partnerId, subscriptionId)
  if (subscriptionId !== null && endpoints.length === 0) throw noSuchSubscription()

  const buckets = Array.from({ length: spans }, (_, i) => {
    const atMs = Date.parse(from) + i * spanSeconds * 1_000
    const { delivered = 0, failed = 0 } = byTime.get(atMs) ?? {}
    return { at: utcSeconds(new Date(atMs).toISOString()), delivered, failed }
  })
  const total: EndpointCount = { delivered: 0, failed: 0, durations: [] }
  for (const { delivered, failed, durations } of byEndpoint.values()) {
    total.delivered += delivered
    total.failed += failed
    addCounts(total.durations, durations)
  }
  const oldest = endpoints.flatMap((each) => each.oldestPending ?? []).sort()[0] ?? null
  return {
    window,
    from: utcSeconds(from),
    to: utcSeconds(now),
    bucket_seconds: spanSeconds,
    buckets,
    ...countView(total),
    success_rate: total.delivered + total.failed === 0 ? null : total.delivered / (total.delivered + total.failed),
    pending: endpoints.reduce((sum, each) => sum + each.pending, 0),
    oldest_undelivered_at: offsetMicrosOrNull(oldest),
    subscriptions: endpoints.map((row) => endpointView(row, byEndpoint.get(row.id))),
  }
}

export function countView({ delivered, failed, durations }: EndpointCount) {
  return { attempts: delivered + failed, delivered, failed, latency_ms: percentiles(durations) }
}

export type Health = 'ok' | 'failing' | 'paused' | 'disabled' | 'idle'

export function healthOf(row: EndpointRow, count: EndpointCount | undefined): Health {
  if (row.state === 'disabled') return 'disabled'
  if (row.paused) return 'paused'
  if (row.failingSince !== null) return 'failing'
  return count === undefined && row.pending === 0 ? 'idle' : 'ok'
}

const nothing: EndpointCount = { delivered: 0, failed: 0, durations: [] }

function endpointView(row: EndpointRow, count: EndpointCount | undefined) {
  return {
    id: row.id,
    url: row.url,
    description: row.description,
    state: row.state,
    health: healthOf(row, count),
    failing_since: utcSecondsOrNull(row.failingSince),
    paused_until: row.paused ? utcSecondsOrNull(row.pausedUntil) : null,
    ...countView(count ?? nothing),
    pending: row.pending,
    last_error:
      row.errorAt === null
        ? null
        : {
            at: offsetMicros(row.errorAt),
            event_id: row.errorEventId!,
            status: row.errorStatus,
            error_kind: row.errorKind,
          },
  }
}
