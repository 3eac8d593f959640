// The subscriptions with how they fare: those in trouble first.
import type { Health, SubscriptionStats } from '../../api/webhook-types.ts'
import { Link } from '../../app/router.tsx'
import { compact, percent } from '../../ui/number.ts'
import { HealthBadge } from '../../ui/status.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { span, Time } from '../../ui/time.tsx'
import { attemptWords } from './explain.ts'

export function EndpointCell({ id, url, description }: { id: string; url: string; description: string }) {
  return (
    <>
      <Link to={`/subscriptions/${id}`} className="row-link">
        {url}
      </Link>
      {description && <span className="sub">{description}</span>}
    </>
  )
}

const order: readonly Health[] = ['failing', 'paused', 'disabled', 'ok', 'idle']

const columns: readonly Column<SubscriptionStats>[] = [
  {
    name: 'Endpoint',
    wide: true,
    cell: (row) => <EndpointCell {...row} />,
  },
  { name: 'Health', cell: ({ health }) => <HealthBadge health={health} /> },
  {
    name: 'Delivered',
    end: true,
    cell: ({ attempts, delivered }) => (attempts === 0 ? '–' : percent(delivered / attempts)),
  },
  { name: 'Attempts', end: true, hide: 'medium', cell: ({ attempts }) => compact(attempts) },
  { name: 'p90', end: true, hide: 'medium', cell: ({ latency_ms }) => (latency_ms ? span(latency_ms.p90) : '–') },
  { name: 'Waiting', end: true, cell: ({ pending }) => compact(pending) },
  {
    name: 'Last failure',
    hide: 'narrow',
    cell: ({ last_error }) =>
      last_error ? (
        <Link to={`/events/${last_error.event_id}`} title={attemptWords(last_error).what}>
          {last_error.status ?? last_error.error_kind}, <Time at={last_error.at} look="ago" />
        </Link>
      ) : (
        <span className="faint">none</span>
      ),
  },
]

export function EndpointTable({ rows }: { rows: readonly SubscriptionStats[] }) {
  const sorted = [...rows].sort((a, b) => order.indexOf(a.health) - order.indexOf(b.health))
  return <Table label="Endpoints and their health" columns={columns} rows={sorted} keyOf={({ id }) => id} />
}
