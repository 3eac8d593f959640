// Delivery as a whole, for the operator: how much waits, who works, and how endpoints fared in the last hour, the worst first.
import type { Db, Queryable } from '../db/db.ts'
import { isPublic } from '../partners/queries.ts'
import { offsetMicrosOrNull, type Timestamp, utcSeconds, utcSecondsOrNull } from '../times.ts'
import { countView, healthOf } from '../webhooks/statistics.ts'
import {
  countByEndpoint,
  countByTime,
  type EndpointRow,
  endpointColumns,
  endpointTables,
  readWindow,
} from '../webhooks/statistics-queries.ts'

const mostEndpoints = 100
const mostCounted = 100_000
const nothing = { delivered: 0, failed: 0, durations: [] }

export async function readOverview(db: Db) {
  const { from } = await readWindow(db, 60, 60)
  const hour = { partnerId: null, spanSeconds: 60, from, subscriptionId: null } as const
  const waiting = await countWaiting(db)
  const total = (await countByTime(db, hour)).reduce(
    (sum, row) => ({ attempts: sum.attempts + row.delivered + row.failed, failed: sum.failed + row.failed }),
    { attempts: 0, failed: 0 },
  )
  const endpoints = await listWorst(db)
  const counts = await countByEndpoint(
    db,
    hour,
    endpoints.map((each) => each.id),
  )
  return {
    pending: waiting.pending,
    oldest_undelivered_at: offsetMicrosOrNull(waiting.oldest),
    attempts_last_hour: total.attempts,
    failed_last_hour: total.failed,
    workers: (await listWorkers(db)).map((row) => ({
      id: row.id,
      started_at: utcSeconds(row.startedAt),
      heartbeat_at: utcSeconds(row.heartbeatAt),
    })),
    endpoints: endpoints.map((row) => {
      const { attempts, failed, latency_ms } = countView(counts.get(row.id) ?? nothing)
      return {
        partner_id: row.partnerId,
        partner_name: row.partnerName,
        subscription_id: row.id,
        url: row.url,
        state: row.state,
        health: healthOf(row, counts.get(row.id)),
        failing_since: utcSecondsOrNull(row.failingSince),
        paused_until: row.paused ? utcSecondsOrNull(row.pausedUntil) : null,
        pending: row.pending,
        attempts,
        failed,
        latency_ms,
      }
    }),
  }
}

async function countWaiting(db: Queryable) {
  const { rows } = await db.query<{ pending: number; oldest: Timestamp | null }>(
    `select count(*)::int as pending, min(created_at) as oldest
     from (select created_at from events where state = 'pending' limit ${mostCounted}) waiting`,
  )
  return rows[0]!
}

async function listWorkers(db: Queryable) {
  const { rows } = await db.query<{ id: string; startedAt: Timestamp; heartbeatAt: Timestamp }>(
    'select id, started_at, heartbeat_at from workers order by started_at, id',
  )
  return rows
}

// Ranked by the mean duration of the last quarters of an hour, which is cheap for any number of endpoints; what waits is counted and
// percentiles are read only for those chosen. Disabled ones come last: nothing is sent to them.
async function listWorst(db: Queryable): Promise<(EndpointRow & { partnerName: string })[]> {
  const { rows } = await db.query<EndpointRow & { partnerName: string }>(
    `with recent as (
       select subscription_id, sum(duration_ms) / greatest(sum(delivered + failed), 1) as mean_ms from delivery_statistics
       where span_seconds = 900 and at >= now() - interval '1 hour' group by subscription_id),
     ranked as (
       select s.id, p.id as partner_id, c.document->>'name' as partner_name,
         row_number() over (order by s.state = 'disabled', l.failing_since is null, coalesce(l.paused_until > now(), false),
           l.failing_since, coalesce(r.mean_ms, 0) desc, s.id desc) as place
       from subscriptions s join partners p on p.id = s.partner_id and p.${isPublic}
         join partner_configurations c on c.partner_id = p.id and c.version = p.configuration_version
         left join lanes l on l.subscription_id = s.id left join recent r on r.subscription_id = s.id
       where s.deleted_at is null order by place limit ${mostEndpoints})
     select ${endpointColumns}, k.partner_name from ranked k, ${endpointTables}
     where s.partner_id = k.partner_id and s.id = k.id order by k.place`,
  )
  return rows
}
