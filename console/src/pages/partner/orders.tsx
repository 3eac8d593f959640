// All orders, with the filters of the API; states change while one looks.
import { refresh } from '../../api/cache.ts'
import { query } from '../../api/http.ts'
import { type Order, orderStates } from '../../api/types.ts'
import { useCalmly, useLive } from '../../app/live.tsx'
import { Link, useQuery } from '../../app/router.tsx'
import { Button } from '../../ui/button.tsx'
import { CurlButton } from '../../ui/copy.tsx'
import { SelectField, TextField } from '../../ui/fields.tsx'
import { GuardedLink } from '../../ui/guarded.tsx'
import { Empty, ErrorNotice, Skeleton } from '../../ui/notice.tsx'
import { Card, Page } from '../../ui/page.tsx'
import { usePages } from '../../ui/pages-of.tsx'
import { OrderBadge, orderStateWords } from '../../ui/status.tsx'
import { type Column, More, Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { Amount, operationWords } from './order-words.tsx'

const columns: readonly Column<Order>[] = [
  {
    name: 'Order',
    wide: true,
    cell: ({ id, operation, reference_id }) => (
      <>
        <Link to={`/orders/${id}`} className="row-link">
          {operationWords[operation] ?? operation}
        </Link>
        <span className="sub mono">{reference_id ?? id}</span>
      </>
    ),
  },
  { name: 'State', cell: ({ state }) => <OrderBadge state={state} /> },
  { name: 'Amount', end: true, cell: (order) => <Amount order={order} /> },
  {
    name: 'Updated',
    end: true,
    hide: 'medium',
    cell: ({ last_updated_at }) => <Time at={last_updated_at} look="ago" />,
  },
  { name: 'Created', end: true, cell: ({ created_at }) => <Time at={created_at} /> },
]

const names = ['state', 'operation', 'currency', 'reference_id'] as const

export function OrdersPage() {
  const [search, setSearch] = useQuery()
  const filters = Object.fromEntries(names.flatMap((name) => (search[name] ? [[name, search[name]]] : [])))
  const filtered = Object.keys(filters).length > 0
  const path = `/partner/orders${query({ ...filters, limit: 50 })}`
  const list = usePages<'orders', Order>(path, 'orders', ({ id }) => id)
  useLive(
    'order',
    useCalmly(() => refresh('/partner/orders'), 1_000),
  )
  const create = (
    <GuardedLink needs="orders:write" look="primary" icon="plus" to="/orders/new">
      New withdrawal
    </GuardedLink>
  )
  return (
    <Page
      title="Orders"
      name="Orders"
      actions={
        <>
          <CurlButton call={{ path }} />
          {create}
        </>
      }
    >
      <search className="filters">
        <SelectField
          label="State"
          hideLabel
          value={search.state ?? ''}
          onText={(state) => setSearch({ state })}
          options={[
            { value: '', label: 'Every state' },
            ...orderStates.map((value) => ({ value, label: orderStateWords(value) })),
          ]}
        />
        <SelectField
          label="Operation"
          hideLabel
          value={search.operation ?? ''}
          onText={(operation) => setSearch({ operation })}
          options={[
            { value: '', label: 'Every operation' },
            ...Object.entries(operationWords).map(([value, label]) => ({ value, label })),
          ]}
        />
        <TextField
          label="Currency"
          hideLabel
          placeholder="Currency"
          className="short"
          value={search.currency ?? ''}
          onText={(text) => setSearch({ currency: text.trim().toUpperCase() })}
        />
        <TextField
          label="Reference"
          hideLabel
          type="search"
          placeholder="Your reference"
          value={search.reference_id ?? ''}
          onText={(reference_id) => setSearch({ reference_id })}
        />
        {filtered && (
          <Button
            look="quiet"
            small
            onClick={() => setSearch(Object.fromEntries(names.map((name) => [name, undefined])))}
          >
            Clear
          </Button>
        )}
      </search>
      {list.error && <ErrorNotice error={list.error} />}
      {!list.rows && !list.error && <Skeleton lines={8} />}
      {list.rows && (
        <Card flush>
          {list.rows.length === 0 ? (
            <Empty
              icon="orders"
              title={filtered ? 'No order matches' : 'No order yet'}
              action={filtered ? undefined : create}
            >
              {filtered
                ? 'Widen the search.'
                : 'A withdrawal pays from a settlement account to one of your destinations.'}
            </Empty>
          ) : (
            <Table label="Orders" columns={columns} rows={list.rows} keyOf={({ id }) => id} />
          )}
          <More {...list.more} />
        </Card>
      )}
    </Page>
  )
}
