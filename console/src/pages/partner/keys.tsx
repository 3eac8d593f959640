// The partner's API keys: create, rotate, revoke, and sign-in links for people without a key.
import { useState } from 'react'
import { refresh } from '../../api/cache.ts'
import { send } from '../../api/http.ts'
import type { ApiKey, SignInLink } from '../../api/types.ts'
import { usePartnerSession } from '../../app/session.tsx'
import { Button } from '../../ui/button.tsx'
import { CurlButton } from '../../ui/copy.tsx'
import { Ask } from '../../ui/dialog.tsx'
import { ErrorNotice, Skeleton } from '../../ui/notice.tsx'
import { Card, Page } from '../../ui/page.tsx'
import { usePages } from '../../ui/pages-of.tsx'
import { More } from '../../ui/table.tsx'
import { useToast } from '../../ui/toast.tsx'
import { KeyForm } from '../keys/key-form.tsx'
import { KeyTable } from '../keys/key-table.tsx'
import { LinkDialog, SecretDialog } from '../keys/secret-dialog.tsx'

const path = '/partner/keys?limit=50'

type Doing =
  | { kind: 'create'; like?: ApiKey }
  | { kind: 'created'; key: ApiKey; replaces?: ApiKey }
  | { kind: 'revoke'; key: ApiKey }
  | { kind: 'link'; link: SignInLink; key: ApiKey }

export function KeysPage() {
  const session = usePartnerSession()
  const list = usePages<'keys', ApiKey>(path, 'keys', ({ id }) => id)
  const [doing, setDoing] = useState<Doing>()
  const toast = useToast()
  const close = () => setDoing(undefined)
  const linkFor = (key: ApiKey) =>
    send<SignInLink>('POST', '/console/links', { key_id: key.id }).then(
      (link) => setDoing({ kind: 'link', link, key }),
      (error) => toast.fail(error),
    )
  return (
    <Page
      title="API keys"
      name="API keys"
      actions={
        <>
          <CurlButton call={{ path }} />
          <Button look="primary" icon="plus" onClick={() => setDoing({ kind: 'create' })}>
            New key
          </Button>
        </>
      }
    >
      {list.error && <ErrorNotice error={list.error} />}
      {!list.rows && !list.error && <Skeleton lines={6} />}
      {list.rows && (
        <Card flush>
          <KeyTable
            keys={list.rows}
            ownId={session.key_id}
            onRotate={(key) => setDoing({ kind: 'create', like: key })}
            onRevoke={(key) => setDoing({ kind: 'revoke', key })}
            onLink={linkFor}
            mayLink={(key) => key.scopes.every((scope) => session.scopes.includes(scope))}
          />
          <More {...list.more} />
        </Card>
      )}
      {doing?.kind === 'create' && (
        <KeyForm
          path="/partner/keys"
          allowed={session.scopes}
          like={doing.like}
          onClose={close}
          onCreated={(key) => {
            refresh('/partner/keys')
            setDoing({ kind: 'created', key, ...(doing.like ? { replaces: doing.like } : {}) })
          }}
        />
      )}
      {doing?.kind === 'created' && (
        <SecretDialog
          created={doing.key}
          onClose={() => setDoing(doing.replaces ? { kind: 'revoke', key: doing.replaces } : undefined)}
        />
      )}
      {doing?.kind === 'revoke' && (
        <Ask
          title={`Revoke ${doing.key.name}?`}
          verb="Revoke"
          look="danger"
          act={() => send('DELETE', `/partner/keys/${doing.key.id}`)}
          onDone={() => refresh('/partner/keys')}
          onClose={close}
        >
          <p>
            Calls with it are refused within a second, everywhere, and console sessions of it end. It cannot be undone.
            {doing.key.id === session.key_id && ' You are signed in with this key: you will be signed out.'}
          </p>
        </Ask>
      )}
      {doing?.kind === 'link' && <LinkDialog link={doing.link} keyName={doing.key.name} onClose={close} />}
    </Page>
  )
}
