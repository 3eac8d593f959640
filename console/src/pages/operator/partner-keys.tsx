// The API keys of a partner, as an operator manages them.
import { useState } from 'react'
import { refresh } from '../../api/cache.ts'
import { send } from '../../api/http.ts'
import { type ApiKey, type SignInLink, scopes } from '../../api/types.ts'
import { useMay } from '../../app/session.tsx'
import { Ask } from '../../ui/dialog.tsx'
import { GuardedButton } from '../../ui/guarded.tsx'
import { ErrorNotice, Skeleton } from '../../ui/notice.tsx'
import { Card } from '../../ui/page.tsx'
import { usePages } from '../../ui/pages-of.tsx'
import { More } from '../../ui/table.tsx'
import { useToast } from '../../ui/toast.tsx'
import { KeyForm } from '../keys/key-form.tsx'
import { KeyTable } from '../keys/key-table.tsx'
import { LinkDialog, SecretDialog } from '../keys/secret-dialog.tsx'

type Doing =
  | { kind: 'create' }
  | { kind: 'created'; key: ApiKey }
  | { kind: 'revoke'; key: ApiKey }
  | { kind: 'link'; link: SignInLink; key: ApiKey }

export function PartnerKeys({ path }: { path: string }) {
  const list = usePages<'keys', ApiKey>(`${path}/keys?limit=50`, 'keys', ({ id }) => id)
  const [doing, setDoing] = useState<Doing>()
  const maySupport = useMay('support')
  const mayAdminister = useMay('admin')
  const toast = useToast()
  const close = () => setDoing(undefined)
  const again = () => refresh(`${path}/keys`, '/audit-log')
  const linkFor = (key: ApiKey) =>
    send<SignInLink>('POST', `${path}/console-links`, { key_id: key.id }).then(
      (link) => setDoing({ kind: 'link', link, key }),
      (error) => toast.fail(error),
    )
  return (
    <Card
      title="API keys"
      flush
      actions={
        <GuardedButton needs="admin" small icon="plus" onClick={() => setDoing({ kind: 'create' })}>
          New key
        </GuardedButton>
      }
    >
      {list.error && <ErrorNotice error={list.error} />}
      {!list.rows && !list.error && <Skeleton lines={3} />}
      {list.rows && (
        <KeyTable
          keys={list.rows}
          {...(maySupport ? { onRevoke: (key: ApiKey) => setDoing({ kind: 'revoke', key }) } : {})}
          {...(mayAdminister ? { onLink: linkFor } : {})}
        />
      )}
      <More {...list.more} />
      {doing?.kind === 'create' && (
        <KeyForm
          path={`${path}/keys`}
          allowed={scopes}
          onClose={close}
          onCreated={(key) => {
            again()
            setDoing({ kind: 'created', key })
          }}
        />
      )}
      {doing?.kind === 'created' && <SecretDialog created={doing.key} onClose={close} />}
      {doing?.kind === 'revoke' && (
        <Ask
          title={`Revoke ${doing.key.name}?`}
          verb="Revoke"
          look="danger"
          act={() => send('DELETE', `${path}/keys/${doing.key.id}`)}
          onDone={again}
          onClose={close}
        >
          <p>
            Calls with it are refused within a second, everywhere, and console sessions of it end. It cannot be undone.
          </p>
        </Ask>
      )}
      {doing?.kind === 'link' && <LinkDialog link={doing.link} keyName={doing.key.name} onClose={close} />}
    </Card>
  )
}
