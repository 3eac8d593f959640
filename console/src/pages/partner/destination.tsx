// One destination: what it holds, and deleting it.
import { useState } from 'react'
import { refresh, useRead } from '../../api/cache.ts'
import { send } from '../../api/http.ts'
import type { Instruction } from '../../api/types.ts'
import { navigate } from '../../app/router.tsx'
import { CurlButton, Id } from '../../ui/copy.tsx'
import { Ask } from '../../ui/dialog.tsx'
import { GuardedButton, GuardedLink } from '../../ui/guarded.tsx'
import { Loaded } from '../../ui/notice.tsx'
import { Card, Facts, Page } from '../../ui/page.tsx'
import { Time } from '../../ui/time.tsx'
import { destinationName, fieldName, typeName } from './destination-words.tsx'

export function DestinationPage({ id }: { id: string }) {
  const path = `/partner/outgoing-instructions/${encodeURIComponent(id)}`
  const read = useRead<Instruction>(path)
  const [deleting, setDeleting] = useState(false)
  return (
    <Page
      title={read.data ? destinationName(read.data) : 'Destination'}
      name="Destination"
      about={<Id id={id} what="instruction id" />}
      back={{ to: '/destinations', label: 'Destinations' }}
      actions={
        read.data && (
          <>
            <CurlButton call={{ path }} />
            <GuardedLink needs="orders:write" icon="orders" to={`/orders/new?destination=${id}`}>
              Pay to it
            </GuardedLink>
            <GuardedButton needs="orders:write" icon="trash" onClick={() => setDeleting(true)}>
              Delete
            </GuardedButton>
          </>
        )
      }
    >
      <Loaded read={read}>
        {(instruction) => (
          <Card>
            <Facts
              facts={[
                ['Type', typeName(instruction.type)],
                ['Currency', instruction.currency],
                ['Label', instruction.label || <span className="faint">none</span>],
                ...Object.entries(instruction.fields).map(
                  ([key, value]) => [fieldName(key), <Id key={key} id={value} what={fieldName(key)} />] as const,
                ),
                ['Fingerprint', <Id key="f" id={instruction.fingerprint} what="fingerprint" />],
                ['Created', <Time key="c" at={instruction.created_at} look="full" />],
              ]}
            />
          </Card>
        )}
      </Loaded>
      {deleting && (
        <Ask
          title="Delete this destination?"
          verb="Delete"
          look="danger"
          act={() => send('DELETE', path)}
          onDone={() => {
            refresh('/partner/outgoing-instructions')
            navigate('/destinations')
          }}
          onClose={() => setDeleting(false)}
        >
          <p>Confirmed orders are still paid to it. Those that wait for confirmation cannot be confirmed any more.</p>
        </Ask>
      )}
    </Page>
  )
}
