// How deliveries stand for all partners: what waits, who works, and the endpoints in trouble first.
import { useCallback } from 'react'
import { refresh, useEvery, useRead } from '../../api/cache.ts'
import type { Delivery, EndpointHealth } from '../../api/operator-types.ts'
import { Link } from '../../app/router.tsx'
import { CurlButton } from '../../ui/copy.tsx'
import { Empty, Loaded } from '../../ui/notice.tsx'
import { compact, percent } from '../../ui/number.ts'
import { Card, Figure, Page } from '../../ui/page.tsx'
import { Badge, HealthBadge } from '../../ui/status.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { span, Time, useNow } from '../../ui/time.tsx'

const path = '/delivery'
const slowMs = 5_000
const silentMs = 8_000 // after that much silence a worker's claims are given to others

const columns: readonly Column<EndpointHealth>[] = [
  {
    name: 'Endpoint',
    wide: true,
    cell: ({ url, partner_id, partner_name }) => (
      <>
        <span className="ellipsis">{url}</span>
        <Link to={`/partners/${partner_id}`} className="sub">
          {partner_name || partner_id}
        </Link>
      </>
    ),
  },
  {
    name: 'Health',
    cell: ({ health, latency_ms }) => (
      <span className="badges">
        <HealthBadge health={health} />
        {latency_ms && latency_ms.p90 > slowMs && <Badge tone="warn">Slow</Badge>}
      </span>
    ),
  },
  {
    name: 'Since',
    hide: 'medium',
    cell: ({ failing_since, paused_until }) =>
      failing_since ? (
        <>
          <Time at={failing_since} look="ago" />
          {paused_until && Date.parse(paused_until) > Date.now() && (
            <span className="sub">
              next try <Time at={paused_until} look="ago" />
            </span>
          )}
        </>
      ) : (
        <span className="faint">–</span>
      ),
  },
  { name: 'Attempts', end: true, hide: 'narrow', cell: ({ attempts }) => compact(attempts) },
  { name: 'Failed', end: true, cell: ({ attempts, failed }) => (attempts === 0 ? '–' : percent(failed / attempts)) },
  { name: 'p90', end: true, hide: 'narrow', cell: ({ latency_ms }) => (latency_ms ? span(latency_ms.p90) : '–') },
  { name: 'Waiting', end: true, cell: ({ pending }) => compact(pending) },
]

export function DeliveryPage() {
  const read = useRead<Delivery>(path)
  const again = useCallback(() => refresh(path), [])
  useEvery(5, again)
  return (
    <Page
      title="Delivery"
      name="Delivery"
      about="All partners, read again every five seconds"
      actions={<CurlButton call={{ path }} />}
    >
      <Loaded read={read} lines={10}>
        {(delivery) => (
          <>
            <Figures delivery={delivery} />
            <Card title="Endpoints" about="Failing, paused and slow ones first; the last hour" flush>
              {delivery.endpoints.length === 0 ? (
                <Empty icon="subscriptions" title="No endpoint yet">
                  Endpoints appear here once partners subscribe them.
                </Empty>
              ) : (
                <Table
                  label="Endpoints"
                  columns={columns}
                  rows={delivery.endpoints}
                  keyOf={({ subscription_id }) => subscription_id}
                />
              )}
            </Card>
            <Card title="Workers" flush>
              <Workers workers={delivery.workers} />
            </Card>
          </>
        )}
      </Loaded>
    </Page>
  )
}

function Figures({ delivery }: { delivery: Delivery }) {
  const now = useNow()
  const { pending, oldest_undelivered_at: oldest, attempts_last_hour: attempts, failed_last_hour: failed } = delivery
  const rate = attempts === 0 ? null : 1 - failed / attempts
  const failing = delivery.endpoints.filter(({ health }) => health === 'failing' || health === 'paused').length
  return (
    <div className="figures">
      <Figure name="Waiting" value={compact(pending)} note="events in the queue" />
      <Figure
        name="Oldest undelivered"
        value={oldest === null ? 'None' : span(Math.max(0, now - Date.parse(oldest)))}
        note={oldest === null ? 'everything has arrived' : <Time at={oldest} />}
        {...(oldest === null ? { tone: 'good' as const } : {})}
      />
      <Figure
        name="Success, last hour"
        value={percent(rate)}
        note={`${compact(attempts)} attempts, ${compact(failed)} failed`}
        {...(rate !== null && rate < 0.9 ? { tone: 'bad' as const } : {})}
      />
      <Figure
        name="Endpoints in trouble"
        value={compact(failing)}
        note={`of ${compact(delivery.endpoints.length)} shown`}
        {...(failing > 0 ? { tone: 'warn' as const } : {})}
      />
    </div>
  )
}

function Workers({ workers }: { workers: Delivery['workers'] }) {
  const now = useNow()
  if (workers.length === 0) {
    return (
      <Empty icon="warn" title="No worker is running">
        Nothing is delivered until one starts (ROLE=worker or all).
      </Empty>
    )
  }
  const columns: readonly Column<Delivery['workers'][number]>[] = [
    { name: 'Worker', wide: true, cell: ({ id }) => <code>{id}</code> },
    {
      name: 'State',
      cell: ({ heartbeat_at }) =>
        now - Date.parse(heartbeat_at) > silentMs + 5_000 ? (
          <Badge tone="bad" icon="warn">
            Silent
          </Badge>
        ) : (
          <Badge tone="good" icon="check">
            Working
          </Badge>
        ),
    },
    { name: 'Started', end: true, cell: ({ started_at }) => <Time at={started_at} look="ago" /> },
    { name: 'Last heard of', end: true, cell: ({ heartbeat_at }) => <Time at={heartbeat_at} look="ago" /> },
  ]
  return <Table label="Workers" columns={columns} rows={workers} keyOf={({ id }) => id} />
}
