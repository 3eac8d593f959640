// API keys as a list: what each may do, when it was used, and what can be done with it.
import type { ApiKey } from '../../api/types.ts'
import { Button } from '../../ui/button.tsx'
import { Id } from '../../ui/copy.tsx'
import { Empty } from '../../ui/notice.tsx'
import { Badge } from '../../ui/status.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'

export function KeyTable({
  keys,
  ownId,
  onRotate,
  onRevoke,
  onLink,
  mayLink = () => true,
}: {
  keys: readonly ApiKey[]
  ownId?: string
  onRotate?: (key: ApiKey) => void
  onRevoke?: (key: ApiKey) => void
  onLink?: (key: ApiKey) => void
  mayLink?: (key: ApiKey) => boolean
}) {
  const columns: readonly Column<ApiKey>[] = [
    {
      name: 'Key',
      wide: true,
      cell: ({ id, name, prefix }) => (
        <>
          <strong>{name}</strong> {id === ownId && <Badge tone="info">This session</Badge>}
          <span className="sub">
            <Id id={id} what="key id" />
          </span>
          {prefix && <span className="sub mono">{prefix}…</span>}
        </>
      ),
    },
    { name: 'State', cell: (key) => <KeyState apiKey={key} /> },
    {
      name: 'May do',
      wide: true,
      cell: ({ scopes }) => (
        <span className="badges">
          {scopes.map((scope) => (
            <Badge key={scope}>{scope}</Badge>
          ))}
        </span>
      ),
    },
    { name: 'Last used', end: true, hide: 'narrow', cell: ({ last_used_at }) => <Time at={last_used_at} look="ago" /> },
    { name: 'Created', end: true, hide: 'medium', cell: ({ created_at }) => <Time at={created_at} /> },
    {
      name: 'Actions',
      end: true,
      cell: (key) =>
        key.revoked_at === null && (
          <span className="row-actions">
            {onLink && mayLink(key) && (
              <Button small look="quiet" onClick={() => onLink(key)} aria-label={`Sign-in link for ${key.name}`}>
                Link
              </Button>
            )}
            {onRotate && (
              <Button small look="quiet" onClick={() => onRotate(key)} aria-label={`Rotate ${key.name}`}>
                Rotate
              </Button>
            )}
            {onRevoke && (
              <Button small look="quiet" onClick={() => onRevoke(key)} aria-label={`Revoke ${key.name}`}>
                Revoke
              </Button>
            )}
          </span>
        ),
    },
  ]
  if (keys.length === 0)
    return (
      <Empty icon="keys" title="No key yet">
        Nobody can call the API for this partner.
      </Empty>
    )
  return <Table label="API keys" columns={columns} rows={keys} keyOf={({ id }) => id} />
}

function KeyState({ apiKey: { revoked_at, expires_at, kind, algorithm, allowed_cidrs } }: { apiKey: ApiKey }) {
  const expired = expires_at !== null && Date.parse(expires_at) <= Date.now()
  return (
    <>
      {revoked_at !== null ? (
        <Badge icon="cross">Revoked</Badge>
      ) : expired ? (
        <Badge tone="warn" icon="clock">
          Expired
        </Badge>
      ) : (
        <Badge tone="good" icon="check">
          Active
        </Badge>
      )}
      <span className="sub">{kind === 'secret' ? 'Secret' : `Signed tokens, ${algorithm}`}</span>
      {expires_at !== null && !expired && revoked_at === null && (
        <span className="sub">
          until <Time at={expires_at} />
        </span>
      )}
      {allowed_cidrs.length > 0 && <span className="sub">only from {allowed_cidrs.join(', ')}</span>}
    </>
  )
}
