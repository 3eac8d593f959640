// What became of a request, by its id; and the calls that this page made itself, to learn from.
import { type FormEvent, useState, useSyncExternalStore } from 'react'
import { useRead } from '../../api/cache.ts'
import { type MadeCall, madeCalls, onCall } from '../../api/http.ts'
import type { LoggedRequest } from '../../api/types.ts'
import { Link, navigate, segment } from '../../app/router.tsx'
import { Button } from '../../ui/button.tsx'
import { CurlButton, Id } from '../../ui/copy.tsx'
import { TextField } from '../../ui/fields.tsx'
import { Loaded } from '../../ui/notice.tsx'
import { Card, Facts, Page } from '../../ui/page.tsx'
import { Badge } from '../../ui/status.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { span, Time } from '../../ui/time.tsx'

export function StatusBadge({ status }: { status: number }) {
  return (
    <Badge tone={status < 400 ? 'good' : status < 500 ? 'warn' : 'bad'} icon={status < 400 ? 'check' : 'warn'}>
      {status}
    </Badge>
  )
}

const columns: readonly Column<MadeCall>[] = [
  {
    name: 'Request',
    wide: true,
    cell: ({ method, path, requestId }) => (
      <>
        <Link to={`/requests/${segment(requestId)}`} className="row-link mono">
          {method} {path}
        </Link>
        <span className="sub mono">{requestId}</span>
      </>
    ),
  },
  { name: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
  { name: 'Took', end: true, cell: ({ durationMs }) => span(durationMs) },
  { name: 'When', end: true, cell: ({ at }) => <Time at={at} look="ago" /> },
]

export function RequestsPage({ id }: { id?: string }) {
  const [text, setText] = useState(id ?? '')
  const calls = useSyncExternalStore(onCall, madeCalls)
  const find = (event: FormEvent) => {
    event.preventDefault()
    if (text.trim() !== '') navigate(`/requests/${segment(text.trim())}`)
  }
  return (
    <Page
      title="Request log"
      name="Request log"
      about="Every answer carries an X-Request-Id. Requests that change something and refused ones are kept for seven days."
    >
      <Card>
        <form onSubmit={find} className="lookup">
          <TextField label="Request id" mono placeholder="req_…" value={text} onText={setText} />
          <Button look="primary" type="submit" icon="search">
            Look up
          </Button>
        </form>
        {id !== undefined && <Found id={id} />}
      </Card>
      <Card title="Calls of this page" about="What the console asked the API since you opened it" flush>
        <Table label="Calls of this page" columns={columns} rows={calls} keyOf={(each) => each.requestId} />
      </Card>
    </Page>
  )
}

function Found({ id }: { id: string }) {
  const path = `/requests/${encodeURIComponent(id)}`
  const read = useRead<LoggedRequest>(path)
  return (
    <Loaded read={read}>
      {(request) => (
        <>
          <Facts
            facts={[
              [
                'Request',
                <code key="p">
                  {request.method} {request.path}
                </code>,
              ],
              ['Answer', <StatusBadge key="s" status={request.status} />],
              request.error_code !== null && ['Error', <code key="e">{request.error_code}</code>],
              request.error_msg !== null && ['Message', request.error_msg],
              ['When', <Time key="t" at={request.at} look="full" />],
              ['Took', span(request.duration_ms)],
              ['API key', request.key_id === null ? '–' : <Id key="k" id={request.key_id} what="key id" />],
              ['From', request.address ?? '–'],
              ['Id', <Id key="i" id={request.request_id} what="request id" />],
            ]}
          />
          <CurlButton call={{ path }} />
        </>
      )}
    </Loaded>
  )
}
