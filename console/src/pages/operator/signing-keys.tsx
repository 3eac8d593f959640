// The keys that webhooks are signed with: which one signs, which one is next, and rotation.
import { useState } from 'react'
import { refresh, useRead } from '../../api/cache.ts'
import { send } from '../../api/http.ts'
import type { SigningKey } from '../../api/operator-types.ts'
import { CurlButton, Id } from '../../ui/copy.tsx'
import { Ask } from '../../ui/dialog.tsx'
import { GuardedButton } from '../../ui/guarded.tsx'
import { Loaded } from '../../ui/notice.tsx'
import { Card, Page } from '../../ui/page.tsx'
import { Badge } from '../../ui/status.tsx'
import { Table } from '../../ui/table.tsx'
import { Time, useNow } from '../../ui/time.tsx'
import { useToast } from '../../ui/toast.tsx'

const path = '/signing-keys'

export function SigningKeysPage() {
  const read = useRead<{ signing_keys: SigningKey[] }>(path)
  const [asking, setAsking] = useState<'rotate' | 'now'>()
  const now = useNow(10_000)
  const toast = useToast()
  return (
    <Page
      title="Signing keys"
      name="Signing keys"
      about="Their public halves are at /.well-known/jwks.json of the partner listener"
      actions={
        <>
          <CurlButton call={{ path }} />
          <GuardedButton needs="admin" onClick={() => setAsking('now')}>
            Replace now
          </GuardedButton>
          <GuardedButton needs="admin" look="primary" icon="resend" onClick={() => setAsking('rotate')}>
            Rotate
          </GuardedButton>
        </>
      }
    >
      <Loaded read={read}>
        {({ signing_keys: keys }) => {
          const signing = keys.find((key) => Date.parse(key.signs_from) <= now)
          return (
            <Card flush>
              <Table
                label="Signing keys"
                rows={keys}
                keyOf={({ id }) => id}
                columns={[
                  { name: 'Key', wide: true, cell: ({ id }) => <Id id={id} what="key id" /> },
                  {
                    name: 'State',
                    cell: (key) =>
                      key === signing ? (
                        <Badge tone="good" icon="check">
                          Signs
                        </Badge>
                      ) : Date.parse(key.signs_from) > now ? (
                        <Badge tone="info" icon="clock">
                          Next
                        </Badge>
                      ) : (
                        <Badge>Retiring</Badge>
                      ),
                  },
                  { name: 'Algorithm', cell: ({ algorithm }) => algorithm },
                  { name: 'Signs from', end: true, cell: ({ signs_from }) => <Time at={signs_from} /> },
                  {
                    name: 'Published until',
                    end: true,
                    hide: 'narrow',
                    cell: ({ published_until }) => <Time at={published_until} />,
                  },
                  { name: 'Made by', hide: 'medium', cell: ({ created_by }) => created_by },
                ]}
              />
            </Card>
          )
        }}
      </Loaded>
      {asking && (
        <Ask
          title={asking === 'now' ? 'Replace the signing key now?' : 'Rotate the signing key?'}
          verb={asking === 'now' ? 'Replace now' : 'Rotate'}
          look={asking === 'now' ? 'danger' : 'primary'}
          act={() => send('POST', `${path}/rotate`, { now: asking === 'now' })}
          onDone={() => {
            refresh(path, '/audit-log')
            toast.say('A new key is published.')
          }}
          onClose={() => setAsking(undefined)}
        >
          <p>
            {asking === 'now'
              ? 'For a compromise only: the new key signs at once and the old ones are withdrawn. Receivers that cached the old keys refuse webhooks until they read them again.'
              : 'The new key is published at once and signs after a day, so that receivers have read it by then. The old one stays published for a day more.'}
          </p>
        </Ask>
      )}
    </Page>
  )
}
