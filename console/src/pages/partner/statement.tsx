// The statement of a settlement account: every change with the balances after it, as a list and as a file.
import { refresh } from '../../api/cache.ts'
import { apiPrefix, query } from '../../api/http.ts'
import type { StatementEntry } from '../../api/types.ts'
import { useCalmly, useLive } from '../../app/live.tsx'
import { Link, useQuery } from '../../app/router.tsx'
import { CurlButton } from '../../ui/copy.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Empty, ErrorNotice, Skeleton } from '../../ui/notice.tsx'
import { money } from '../../ui/number.ts'
import { Card, Page } from '../../ui/page.tsx'
import { usePages } from '../../ui/pages-of.tsx'
import { Badge, type Tone } from '../../ui/status.tsx'
import { type Column, More, Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { TimeField } from './event-filters.tsx'

const kinds: Record<StatementEntry['kind'], [tone: Tone, words: string]> = {
  top_up: ['good', 'Top-up'],
  hold: ['warn', 'Held'],
  release: ['none', 'Given back'],
  payout: ['info', 'Paid out'],
  return: ['good', 'Returned'],
}

const columns: readonly Column<StatementEntry>[] = [
  {
    name: 'What',
    wide: true,
    cell: ({ kind, order_id }) => (
      <>
        <Badge tone={kinds[kind]?.[0] ?? 'none'}>{kinds[kind]?.[1] ?? kind}</Badge>{' '}
        <Link to={`/orders/${order_id}`} className="mono small-text">
          {order_id}
        </Link>
      </>
    ),
  },
  { name: 'Change', end: true, cell: ({ available_change }) => <Change value={available_change} /> },
  { name: 'Held change', end: true, hide: 'medium', cell: ({ held_change }) => <Change value={held_change} /> },
  { name: 'Available', end: true, cell: ({ available }) => <span className="amount">{money(available)}</span> },
  { name: 'Held', end: true, hide: 'narrow', cell: ({ held }) => <span className="amount soft">{money(held)}</span> },
  { name: 'When', end: true, cell: ({ created_at }) => <Time at={created_at} /> },
]

function Change({ value }: { value: string }) {
  if (/^-?[0.]+$/.test(value)) return <span className="faint">–</span>
  const credit = !value.startsWith('-')
  return <span className={`amount ${credit ? 'good-text' : ''}`}>{credit ? `+${money(value)}` : money(value)}</span>
}

export function StatementPage({ currency }: { currency: string }) {
  const [search, setSearch] = useQuery()
  const span = { created_from: search.created_from, created_to: search.created_to }
  const base = `/partner/settlement-accounts/${encodeURIComponent(currency)}/statement`
  const path = base + query({ ...span, limit: 50 })
  const list = usePages<'entries', StatementEntry>(path, 'entries', ({ entry }) => String(entry))
  useLive(
    'order',
    useCalmly(() => refresh(base), 1_000),
  )
  const latest = list.rows?.[0]
  return (
    <Page
      title={`${currency} statement`}
      name={`${currency} statement`}
      about={
        latest && !span.created_to ? `${money(latest.available)} available, ${money(latest.held)} held` : undefined
      }
      back={{ to: '/balances', label: 'Balances' }}
      actions={
        <>
          <CurlButton call={{ path }} />
          <a className="button plain" href={apiPrefix + base + query({ ...span, format: 'csv' })} download>
            <Icon name="download" />
            Download CSV
          </a>
        </>
      }
    >
      <search className="filters">
        <TimeField label="From" value={search.created_from} onChange={(at) => setSearch({ created_from: at })} />
        <TimeField label="Before" value={search.created_to} onChange={(at) => setSearch({ created_to: at })} />
      </search>
      {list.error && <ErrorNotice error={list.error} />}
      {!list.rows && !list.error && <Skeleton lines={8} />}
      {list.rows && (
        <Card flush>
          {list.rows.length === 0 ? (
            <Empty icon="balances" title="Nothing happened in that time" />
          ) : (
            <Table
              label={`Statement of ${currency}`}
              columns={columns}
              rows={list.rows}
              keyOf={({ entry }) => String(entry)}
            />
          )}
          <More {...list.more} />
        </Card>
      )}
    </Page>
  )
}
