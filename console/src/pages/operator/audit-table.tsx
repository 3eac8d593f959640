// Entries of the audit log: who did what to what.
import { query } from '../../api/http.ts'
import type { AuditEntry } from '../../api/operator-types.ts'
import { placeOf } from '../../app/nav.ts'
import { Link } from '../../app/router.tsx'
import { coloured } from '../../ui/code.tsx'
import { Empty, ErrorNotice, Skeleton } from '../../ui/notice.tsx'
import { usePages } from '../../ui/pages-of.tsx'
import { Badge } from '../../ui/status.tsx'
import { type Column, More, Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'

const columns: readonly Column<AuditEntry>[] = [
  {
    name: 'What',
    wide: true,
    cell: ({ action, details, target_id, request_id }) => (
      <>
        <strong>{action}</strong>
        {target_id && (
          <span className="sub">
            <Target id={target_id} />
          </span>
        )}
        <details className="quiet-details">
          <summary>Details</summary>
          <pre className="small-pre">{coloured(JSON.stringify({ ...details, request_id }, null, 2))}</pre>
        </details>
      </>
    ),
  },
  {
    name: 'Who',
    cell: ({ actor }) => (
      <>
        {actor.name} <Badge>{actor.kind}</Badge>
        <span className="sub mono">{actor.id}</span>
      </>
    ),
  },
  {
    name: 'Partner',
    hide: 'medium',
    cell: ({ partner_id }) => (partner_id ? <Target id={partner_id} /> : <span className="faint">–</span>),
  },
  { name: 'When', end: true, cell: ({ at }) => <Time at={at} /> },
]

function Target({ id }: { id: string }) {
  const place = placeOf(id)
  return place ? (
    <Link to={place} className="mono small-text">
      {id}
    </Link>
  ) : (
    <span className="mono small-text soft">{id}</span>
  )
}

export function AuditTable({ partnerId, limit }: { partnerId?: string | undefined; limit: number }) {
  const path = `/audit-log${query({ partner_id: partnerId, limit })}`
  const list = usePages<'entries', AuditEntry>(path, 'entries', ({ id }) => id)
  if (list.error) return <ErrorNotice error={list.error} />
  if (!list.rows) return <Skeleton lines={limit > 8 ? 10 : 4} />
  if (list.rows.length === 0) return <Empty icon="audit" title="Nothing was done yet" />
  return (
    <>
      <Table label="Audit log" columns={columns} rows={list.rows} keyOf={({ id }) => id} />
      <More {...list.more} />
    </>
  )
}
