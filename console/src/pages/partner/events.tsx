// All events, searchable, live: new ones appear at the top and states change while one looks.
import { useEffect, useState } from 'react'
import { query } from '../../api/http.ts'
import type { WebhookEvent } from '../../api/webhook-types.ts'
import { useLive } from '../../app/live.tsx'
import { Link, useQuery } from '../../app/router.tsx'
import { usePartnerSession } from '../../app/session.tsx'
import { CurlButton } from '../../ui/copy.tsx'
import { GuardedButton } from '../../ui/guarded.tsx'
import { Empty, ErrorNotice, Skeleton } from '../../ui/notice.tsx'
import { Card, Page } from '../../ui/page.tsx'
import { usePages } from '../../ui/pages-of.tsx'
import { EventBadge } from '../../ui/status.tsx'
import { type Column, More, Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { BulkProgress, BulkResendDialog } from './bulk-resend.tsx'
import { FilterBar, type Filters, matches, useFilters } from './event-filters.tsx'
import { shortReason } from './explain.ts'
import { MakeEvent } from './make-event.tsx'

const columns: readonly Column<WebhookEvent>[] = [
  {
    name: 'Event',
    wide: true,
    cell: ({ id, action, resource_id }) => (
      <>
        <Link to={`/events/${id}`} className="row-link">
          {action}
        </Link>
        <span className="sub mono">{resource_id}</span>
      </>
    ),
  },
  {
    name: 'State',
    cell: ({ state, delivery_tries, delivered_at }) => (
      <EventBadge state={state} tries={delivery_tries} delivered={delivered_at !== null} />
    ),
  },
  {
    name: 'Last answer',
    hide: 'narrow',
    cell: (event) => <span className={event.state === 'error' ? 'bad-text' : 'soft'}>{shortReason(event)}</span>,
  },
  { name: 'Tries', end: true, hide: 'narrow', cell: ({ delivery_tries }) => delivery_tries },
  {
    name: 'Endpoint',
    wide: true,
    hide: 'medium',
    cell: ({ delivery_url }) => <span className="soft">{delivery_url.replace('https://', '')}</span>,
  },
  { name: 'Created', end: true, cell: ({ created_at }) => <Time at={created_at} /> },
]

export function EventsPage() {
  const filters = useFilters()
  const [search, setSearch] = useQuery()
  const { mode } = usePartnerSession()
  const [dialog, setDialog] = useState<'bulk' | 'make'>()
  const path = `/webhooks/events${query({ ...filters, limit: 50 })}`
  const list = usePages<'events', WebhookEvent>(path, 'events', (event) => event.id)
  const { rows, fresh } = useLiveRows(list.rows, filters, path)
  return (
    <Page
      title="Events"
      name="Events"
      actions={
        <>
          <CurlButton call={{ path }} />
          {mode === 'sandbox' && (
            <GuardedButton needs="webhooks:write" icon="bolt" onClick={() => setDialog('make')}>
              Make an event
            </GuardedButton>
          )}
          <GuardedButton needs="webhooks:write" icon="resend" onClick={() => setDialog('bulk')}>
            Resend matching
          </GuardedButton>
        </>
      }
    >
      <FilterBar />
      {search.resend && <BulkProgress id={search.resend} onClose={() => setSearch({ resend: undefined })} />}
      {list.error && <ErrorNotice error={list.error} />}
      {!rows && !list.error && <Skeleton lines={10} />}
      {rows && (
        <Card flush>
          {rows.length === 0 ? (
            <Empty icon="events" title={Object.keys(filters).length > 0 ? 'No event matches' : 'No event yet'}>
              {Object.keys(filters).length > 0
                ? 'Widen the search, or wait: matching events appear here by themselves.'
                : 'Events appear here as they happen.'}
            </Empty>
          ) : (
            <Table
              label="Events"
              columns={columns}
              rows={rows}
              keyOf={({ id }) => id}
              isNew={({ id }) => fresh.has(id)}
            />
          )}
          <More {...list.more} />
        </Card>
      )}
      {dialog === 'bulk' && (
        <BulkResendDialog
          filters={filters}
          onClose={() => setDialog(undefined)}
          onStarted={(id) => setSearch({ resend: id })}
        />
      )}
      {dialog === 'make' && <MakeEvent onClose={() => setDialog(undefined)} />}
    </Page>
  )
}

// What was read, with what happened since: known rows change in place, matching new ones come on top.
function useLiveRows(rows: WebhookEvent[] | undefined, filters: Filters, path: string) {
  const [seen, setSeen] = useState<ReadonlyMap<string, WebhookEvent>>(new Map())
  // biome-ignore lint/correctness/useExhaustiveDependencies: another search begins anew
  useEffect(() => setSeen(new Map()), [path])
  useLive('webhook_event', (event) => setSeen((all) => new Map(all).set(event.id, event)))
  const known = new Set(rows?.map(({ id }) => id))
  const fresh = new Map([...seen].filter(([id, event]) => !known.has(id) && matches(filters, event)))
  const oldest = rows?.at(-1)
  const added = [...fresh.values()].filter((event) => !oldest || event.id > oldest.id)
  const merged = rows && [
    ...added.sort((a, b) => (a.id < b.id ? 1 : -1)),
    ...rows.map((row) => newer(row, seen.get(row.id))),
  ]
  return { rows: merged, fresh }
}

// What was read last may be newer than what was pushed before it.
function newer(read: WebhookEvent, pushed: WebhookEvent | undefined): WebhookEvent {
  if (!pushed) return read
  if (pushed.delivery_tries !== read.delivery_tries) return pushed.delivery_tries > read.delivery_tries ? pushed : read
  return pushed
}
