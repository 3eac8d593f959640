// Only in a sandbox: lets an event happen, as the platform would publish it.
import { useState } from 'react'
import { refresh } from '../../api/cache.ts'
import { send } from '../../api/http.ts'
import { eventTypeNames, eventTypes } from '../../api/webhook-types.ts'
import { CurlButton } from '../../ui/copy.tsx'
import { Ask } from '../../ui/dialog.tsx'
import { SelectField } from '../../ui/fields.tsx'
import { plural } from '../../ui/number.ts'
import { useToast } from '../../ui/toast.tsx'

export function MakeEvent({ onClose, first = 'order-closed' }: { onClose: () => void; first?: string }) {
  const [action, setAction] = useState(first)
  const toast = useToast()
  const act = async () => {
    const { event_ids } = await send<{ event_ids: string[] }>('POST', '/sandbox/events', { action })
    toast.say(
      event_ids.length === 0
        ? 'Published, but no subscription wants this type.'
        : `Published to ${plural(event_ids.length, 'subscription')}.`,
    )
    refresh('/webhooks')
  }
  return (
    <Ask title="Make an event happen" verb="Publish" act={act} onClose={onClose}>
      <p className="about">
        As if the platform had published it: every subscription to this type gets it, with example data.
      </p>
      <SelectField
        label="Event type"
        value={action}
        onText={setAction}
        hint={eventTypes[action as keyof typeof eventTypes]}
        options={eventTypeNames.map((value) => ({ value, label: value }))}
      />
      <CurlButton call={{ method: 'POST', path: '/sandbox/events', body: { action } }} />
    </Ask>
  )
}
