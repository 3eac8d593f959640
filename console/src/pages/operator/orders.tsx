// Orders of all partners; those that wait to be paid first.
import { useCallback } from 'react'
import { refresh, useEvery } from '../../api/cache.ts'
import { query } from '../../api/http.ts'
import type { OperatorOrder } from '../../api/operator-types.ts'
import { type OrderState, orderStates } from '../../api/types.ts'
import { Link, useQuery } from '../../app/router.tsx'
import { CurlButton } from '../../ui/copy.tsx'
import { SelectField } from '../../ui/fields.tsx'
import { Empty, ErrorNotice, Skeleton } from '../../ui/notice.tsx'
import { Card, Page } from '../../ui/page.tsx'
import { usePages } from '../../ui/pages-of.tsx'
import { OrderBadge, orderStateWords } from '../../ui/status.tsx'
import { type Column, More, Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { Amount, operationWords } from '../partner/order-words.tsx'
import { OrderActions } from './order-actions.tsx'
import { PartnerFilter } from './partner-filter.tsx'

const columns: readonly Column<OperatorOrder>[] = [
  {
    name: 'Order',
    wide: true,
    cell: ({ id, operation, partner_id }) => (
      <>
        <Link to={`/orders/${id}`} className="row-link">
          {operationWords[operation] ?? operation}
        </Link>
        <span className="sub mono">{id}</span>
        <Link to={`/partners/${partner_id}`} className="sub mono">
          {partner_id}
        </Link>
      </>
    ),
  },
  {
    name: 'State',
    cell: ({ state, taken_by, taken_at }) => (
      <>
        <OrderBadge state={state} />
        {state === 'processing' && taken_by && (
          <span className="sub">
            {taken_by}, <Time at={taken_at} look="ago" />
          </span>
        )}
      </>
    ),
  },
  { name: 'Amount', end: true, cell: (order) => <Amount order={order} /> },
  {
    name: 'Updated',
    end: true,
    hide: 'narrow',
    cell: ({ last_updated_at }) => <Time at={last_updated_at} look="ago" />,
  },
  { name: 'Actions', end: true, cell: (order) => <OrderActions order={order} small /> },
]

export function OperatorOrdersPage() {
  const [search, setSearch] = useQuery()
  const state = search.state ?? (search.partner_id ? '' : 'pending')
  const path = `/orders${query({ state: state === 'all' ? '' : state, partner_id: search.partner_id, limit: 50 })}`
  const list = usePages<'orders', OperatorOrder>(path, 'orders', ({ id }) => id)
  const again = useCallback(() => refresh('/orders'), [])
  useEvery(5, again)
  return (
    <Page
      title="Orders"
      name="Orders"
      about="Pending ones wait to be taken and paid"
      actions={<CurlButton call={{ path }} />}
    >
      <search className="filters">
        <SelectField
          label="State"
          hideLabel
          value={state === '' ? 'all' : state}
          onText={(value) => setSearch({ state: value })}
          options={[
            { value: 'all', label: 'Every state' },
            ...orderStates.map((value: OrderState) => ({
              value,
              label: value === 'pending' ? 'Waiting to be paid' : orderStateWords(value),
            })),
          ]}
        />
        <PartnerFilter />
      </search>
      {list.error && <ErrorNotice error={list.error} />}
      {!list.rows && !list.error && <Skeleton lines={8} />}
      {list.rows && (
        <Card flush>
          {list.rows.length === 0 ? (
            <Empty icon="check" title={state === 'pending' ? 'No order waits to be paid' : 'No order matches'} />
          ) : (
            <Table label="Orders" columns={columns} rows={list.rows} keyOf={({ id }) => id} />
          )}
          <More {...list.more} />
        </Card>
      )}
    </Page>
  )
}
