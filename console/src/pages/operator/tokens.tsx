// Operator tokens: who may operate the service, and as what.
import { useRef, useState } from 'react'
import { refresh } from '../../api/cache.ts'
import { onceKey, send } from '../../api/http.ts'
import type { OperatorToken } from '../../api/operator-types.ts'
import { Button } from '../../ui/button.tsx'
import { CurlButton, Id } from '../../ui/copy.tsx'
import { Ask } from '../../ui/dialog.tsx'
import { Choices, TextField } from '../../ui/fields.tsx'
import { Empty, ErrorNotice, Skeleton } from '../../ui/notice.tsx'
import { Card, Page } from '../../ui/page.tsx'
import { usePages } from '../../ui/pages-of.tsx'
import { Badge } from '../../ui/status.tsx'
import { type Column, More, Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'
import { SecretDialog } from '../keys/secret-dialog.tsx'

const path = '/tokens?limit=50'
const roles = [
  { value: 'read', label: 'read', hint: 'Sees everything' },
  { value: 'support', label: 'support', hint: 'Suspends partners, revokes keys, cancels orders' },
  { value: 'payouts', label: 'payouts', hint: 'Pays orders, credits funds' },
  { value: 'admin', label: 'admin', hint: 'Everything' },
]

type Doing = { kind: 'create' } | { kind: 'created'; token: OperatorToken } | { kind: 'revoke'; token: OperatorToken }

export function TokensPage() {
  const list = usePages<'tokens', OperatorToken>(path, 'tokens', ({ id }) => id)
  const [doing, setDoing] = useState<Doing>()
  const close = () => setDoing(undefined)
  const columns: readonly Column<OperatorToken>[] = [
    {
      name: 'Token',
      wide: true,
      cell: ({ id, name }) => (
        <>
          <strong>{name}</strong>
          <span className="sub">
            <Id id={id} what="token id" />
          </span>
        </>
      ),
    },
    {
      name: 'State',
      cell: ({ revoked_at }) =>
        revoked_at === null ? (
          <Badge tone="good" icon="check">
            Active
          </Badge>
        ) : (
          <Badge icon="cross">Revoked</Badge>
        ),
    },
    {
      name: 'Roles',
      cell: ({ roles: own }) => (
        <span className="badges">
          {own.map((role) => (
            <Badge key={role}>{role}</Badge>
          ))}
        </span>
      ),
    },
    { name: 'Created', end: true, hide: 'narrow', cell: ({ created_at }) => <Time at={created_at} /> },
    {
      name: 'Actions',
      end: true,
      cell: (token) =>
        token.revoked_at === null && (
          <Button
            small
            look="quiet"
            aria-label={`Revoke ${token.name}`}
            onClick={() => setDoing({ kind: 'revoke', token })}
          >
            Revoke
          </Button>
        ),
    },
  ]
  return (
    <Page
      title="Operator tokens"
      name="Operator tokens"
      actions={
        <>
          <CurlButton call={{ path }} />
          <Button look="primary" icon="plus" onClick={() => setDoing({ kind: 'create' })}>
            New token
          </Button>
        </>
      }
    >
      {list.error && <ErrorNotice error={list.error} />}
      {!list.rows && !list.error && <Skeleton lines={5} />}
      {list.rows && (
        <Card flush>
          {list.rows.length === 0 ? (
            <Empty icon="tokens" title="Only the bootstrap token so far">
              Give everybody a token of their own, so that the audit log knows who did what.
            </Empty>
          ) : (
            <Table label="Operator tokens" columns={columns} rows={list.rows} keyOf={({ id }) => id} />
          )}
          <More {...list.more} />
        </Card>
      )}
      {doing?.kind === 'create' && (
        <NewToken
          onClose={close}
          onCreated={(token) => {
            refresh('/tokens')
            setDoing({ kind: 'created', token })
          }}
        />
      )}
      {doing?.kind === 'created' && <SecretDialog created={doing.token} onClose={close} />}
      {doing?.kind === 'revoke' && (
        <Ask
          title={`Revoke ${doing.token.name}?`}
          verb="Revoke"
          look="danger"
          act={() => send('DELETE', `/tokens/${doing.token.id}`)}
          onDone={() => refresh('/tokens')}
          onClose={close}
        >
          <p>It is refused within a second, and console sessions of it end. It cannot be undone.</p>
        </Ask>
      )}
    </Page>
  )
}

function NewToken({ onClose, onCreated }: { onClose: () => void; onCreated: (token: OperatorToken) => void }) {
  const [name, setName] = useState('')
  const [chosen, setChosen] = useState<string[]>(['read'])
  const once = useRef(onceKey())
  const made = useRef<OperatorToken>(undefined)
  return (
    <Ask
      title="New operator token"
      verb="Create"
      act={async () => {
        made.current = await send<OperatorToken>('POST', '/tokens', { name: name.trim(), roles: chosen }, once.current)
      }}
      onDone={() => made.current && setTimeout(onCreated, 0, made.current)}
      onClose={onClose}
      disabled={name.trim() === '' || chosen.length === 0}
    >
      <TextField
        label="Name"
        hint="Whom it is for; the audit log shows it"
        maxLength={100}
        value={name}
        onText={setName}
      />
      <Choices legend="Roles" options={roles} chosen={chosen} onChange={setChosen} />
    </Ask>
  )
}
