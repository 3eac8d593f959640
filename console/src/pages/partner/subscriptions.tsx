// The subscriptions: where events go, and how each endpoint fares.
import { useRead } from '../../api/cache.ts'
import type { Stats, Subscription } from '../../api/webhook-types.ts'
import { CurlButton } from '../../ui/copy.tsx'
import { GuardedLink } from '../../ui/guarded.tsx'
import { Empty, ErrorNotice, Skeleton } from '../../ui/notice.tsx'
import { compact } from '../../ui/number.ts'
import { Card, Page } from '../../ui/page.tsx'
import { usePages } from '../../ui/pages-of.tsx'
import { Badge, HealthBadge } from '../../ui/status.tsx'
import { type Column, More, Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { EndpointCell } from './endpoint-table.tsx'

const path = '/webhooks/subscriptions?limit=50'

export function SubscriptionsPage() {
  const list = usePages<'subscriptions', Subscription>(path, 'subscriptions', ({ id }) => id)
  const stats = useRead<Stats>('/webhooks/stats?window=24h')
  const of = (id: string) => stats.data?.subscriptions.find((each) => each.id === id)
  const columns: readonly Column<Subscription>[] = [
    {
      name: 'Endpoint',
      wide: true,
      cell: (row) => <EndpointCell {...row} />,
    },
    {
      name: 'Health',
      cell: ({ id, state }) => <HealthBadge health={of(id)?.health ?? (state === 'disabled' ? 'disabled' : 'idle')} />,
    },
    {
      name: 'Event types',
      hide: 'narrow',
      cell: ({ events }) => (
        <span title={events.join(', ')}>
          <Badge>{events.length === 1 ? events[0] : `${events.length} types`}</Badge>
        </span>
      ),
    },
    { name: 'Waiting', end: true, cell: ({ id }) => compact(of(id)?.pending ?? 0) },
    { name: 'Created', end: true, hide: 'narrow', cell: ({ created_at }) => <Time at={created_at} /> },
  ]
  const create = (
    <GuardedLink needs="webhooks:write" look="primary" icon="plus" to="/subscriptions/new">
      New subscription
    </GuardedLink>
  )
  return (
    <Page
      title="Subscriptions"
      name="Subscriptions"
      actions={
        <>
          <CurlButton call={{ path }} />
          {create}
        </>
      }
    >
      {list.error && <ErrorNotice error={list.error} />}
      {!list.rows && !list.error && <Skeleton lines={6} />}
      {list.rows && (
        <Card flush>
          {list.rows.length === 0 ? (
            <Empty icon="subscriptions" title="No subscription yet" action={create}>
              A subscription names an HTTPS address of yours and the event types that it wants.
            </Empty>
          ) : (
            <Table label="Subscriptions" columns={columns} rows={list.rows} keyOf={({ id }) => id} />
          )}
          <More {...list.more} />
        </Card>
      )}
    </Page>
  )
}
