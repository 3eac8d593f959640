// The destinations that withdrawals can pay to.
import type { Instruction } from '../../api/types.ts'
import { Link } from '../../app/router.tsx'
import { CurlButton } from '../../ui/copy.tsx'
import { GuardedLink } from '../../ui/guarded.tsx'
import { Empty, ErrorNotice, Skeleton } from '../../ui/notice.tsx'
import { Card, Page } from '../../ui/page.tsx'
import { usePages } from '../../ui/pages-of.tsx'
import { type Column, More, Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { destinationName, typeName } from './destination-words.tsx'

const path = '/partner/outgoing-instructions?limit=50'

const columns: readonly Column<Instruction>[] = [
  {
    name: 'Destination',
    wide: true,
    cell: (instruction) => (
      <>
        <Link to={`/destinations/${instruction.id}`} className="row-link">
          {destinationName(instruction)}
        </Link>
        <span className="sub mono">{instruction.id}</span>
      </>
    ),
  },
  { name: 'Type', hide: 'narrow', cell: ({ type }) => typeName(type) },
  { name: 'Currency', cell: ({ currency }) => currency },
  { name: 'Created', end: true, cell: ({ created_at }) => <Time at={created_at} /> },
]

export function DestinationsPage() {
  const list = usePages<'outgoing_instructions', Instruction>(path, 'outgoing_instructions', ({ id }) => id)
  const create = (
    <GuardedLink needs="orders:write" look="primary" icon="plus" to="/destinations/new">
      New destination
    </GuardedLink>
  )
  return (
    <Page
      title="Destinations"
      name="Destinations"
      about="Outgoing instructions: whom withdrawals pay"
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
            <Empty icon="destinations" title="No destination yet" action={create}>
              A destination is an account that withdrawals pay to. It is checked when it is made and never changes.
            </Empty>
          ) : (
            <Table label="Destinations" columns={columns} rows={list.rows} keyOf={({ id }) => id} />
          )}
          <More {...list.more} />
        </Card>
      )}
    </Page>
  )
}
