// All partners.
import { useRef, useState } from 'react'
import { refresh } from '../../api/cache.ts'
import { onceKey, send } from '../../api/http.ts'
import type { Partner } from '../../api/operator-types.ts'
import { Link, navigate } from '../../app/router.tsx'
import { CurlButton } from '../../ui/copy.tsx'
import { Ask } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/fields.tsx'
import { GuardedButton } from '../../ui/guarded.tsx'
import { Empty, ErrorNotice, Skeleton } from '../../ui/notice.tsx'
import { Card, Page } from '../../ui/page.tsx'
import { usePages } from '../../ui/pages-of.tsx'
import { Badge } from '../../ui/status.tsx'
import { type Column, More, Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'

const path = '/partners?limit=100'

export function PartnerState({ state }: { state: Partner['state'] }) {
  return state === 'active' ? (
    <Badge tone="good" icon="check">
      Active
    </Badge>
  ) : (
    <Badge tone="bad" icon="pause">
      Suspended
    </Badge>
  )
}

const columns: readonly Column<Partner>[] = [
  {
    name: 'Partner',
    wide: true,
    cell: ({ id, name }) => (
      <>
        <Link to={`/partners/${id}`} className="row-link">
          {name}
        </Link>
        <span className="sub mono">{id}</span>
      </>
    ),
  },
  { name: 'State', cell: ({ state }) => <PartnerState state={state} /> },
  { name: 'Configuration', end: true, cell: ({ configuration_version }) => `version ${configuration_version}` },
  { name: 'Created', end: true, hide: 'narrow', cell: ({ created_at }) => <Time at={created_at} /> },
]

export function PartnersPage() {
  const list = usePages<'partners', Partner>(path, 'partners', ({ id }) => id)
  const [making, setMaking] = useState(false)
  const [name, setName] = useState('')
  const once = useRef(onceKey())
  const made = useRef<Partner>(undefined)
  return (
    <Page
      title="Partners"
      name="Partners"
      actions={
        <>
          <CurlButton call={{ path }} />
          <GuardedButton needs="admin" look="primary" icon="plus" onClick={() => setMaking(true)}>
            New partner
          </GuardedButton>
        </>
      }
    >
      {list.error && <ErrorNotice error={list.error} />}
      {!list.rows && !list.error && <Skeleton lines={8} />}
      {list.rows && (
        <Card flush>
          {list.rows.length === 0 ? (
            <Empty icon="partners" title="No partner yet">
              Create one, write its configuration, and give it a key.
            </Empty>
          ) : (
            <Table label="Partners" columns={columns} rows={list.rows} keyOf={({ id }) => id} />
          )}
          <More {...list.more} />
        </Card>
      )}
      {making && (
        <Ask
          title="New partner"
          verb="Create"
          act={async () => {
            made.current = await send<Partner>('POST', '/partners', { name: name.trim() }, once.current)
          }}
          onDone={() => {
            refresh('/partners')
            navigate(`/partners/${made.current!.id}`)
          }}
          onClose={() => setMaking(false)}
          disabled={name.trim() === ''}
        >
          <TextField
            label="Name"
            maxLength={200}
            value={name}
            onText={setName}
            hint="Its configuration starts empty."
          />
        </Ask>
      )}
    </Page>
  )
}
