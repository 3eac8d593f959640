// The search of events: every filter of the API, kept in the address so that a search can be sent to somebody.
import { useEffect, useState } from 'react'
import { useRead } from '../../api/cache.ts'
import type { Page } from '../../api/types.ts'
import { type EventState, eventTypeNames, type Subscription, type WebhookEvent } from '../../api/webhook-types.ts'
import { useQuery } from '../../app/router.tsx'
import { Button } from '../../ui/button.tsx'
import { Segments, SelectField, TextField } from '../../ui/fields.tsx'

export interface Filters {
  state?: string
  action?: string
  subscription_id?: string
  resource_id?: string
  created_from?: string
  created_to?: string
}
const names = ['state', 'action', 'subscription_id', 'resource_id', 'created_from', 'created_to'] as const

export function useFilters(): Filters {
  const [query] = useQuery()
  return Object.fromEntries(names.flatMap((name) => (query[name] ? [[name, query[name]]] : [])))
}

export function matches(filters: Filters, event: WebhookEvent): boolean {
  const at = Date.parse(event.created_at)
  return (
    (!filters.state || event.state === filters.state) &&
    (!filters.action || event.action === filters.action) &&
    (!filters.subscription_id || event.subscription_id === filters.subscription_id) &&
    (!filters.resource_id || event.resource_id === filters.resource_id) &&
    (!filters.created_from || at >= Date.parse(filters.created_from)) &&
    (!filters.created_to || at < Date.parse(filters.created_to))
  )
}

export function filterWords(filters: Filters): string {
  const parts = names.flatMap((name) => (filters[name] ? [`${name} ${filters[name]}`] : []))
  return parts.length === 0 ? 'all events' : parts.join(', ')
}

const states: readonly { value: '' | EventState; label: string }[] = [
  { value: '', label: 'All' },
  { value: 'completed', label: 'Delivered' },
  { value: 'error', label: 'Failed' },
  { value: 'pending', label: 'Pending' },
]

export function FilterBar() {
  const [, setQuery] = useQuery()
  const filters = useFilters()
  const [open, setOpen] = useState(filters.created_from !== undefined || filters.created_to !== undefined)
  const subscriptions = useRead<Page<'subscriptions', Subscription>>('/webhooks/subscriptions?limit=100')
  const known = subscriptions.data?.subscriptions ?? []
  const chosen = filters.subscription_id
  const unknown = chosen !== undefined && !known.some(({ id }) => id === chosen)
  return (
    <search className="filters">
      <Segments
        label="State"
        options={states}
        value={(states.find(({ value }) => value === filters.state)?.value ?? '') as ''}
        onChange={(state) => setQuery({ state })}
      />
      <SelectField
        label="Event type"
        hideLabel
        value={filters.action ?? ''}
        onText={(action) => setQuery({ action })}
        options={[{ value: '', label: 'Every type' }, ...eventTypeNames.map((value) => ({ value, label: value }))]}
      />
      <SelectField
        label="Subscription"
        hideLabel
        value={chosen ?? ''}
        onText={(subscription_id) => setQuery({ subscription_id })}
        options={[
          { value: '', label: 'Every subscription' },
          ...known.map(({ id, url, description }) => ({ value: id, label: description || url })),
          ...(unknown ? [{ value: chosen, label: chosen }] : []),
        ]}
      />
      <ResourceField value={filters.resource_id ?? ''} onChange={(resource_id) => setQuery({ resource_id })} />
      <Button look="quiet" small aria-expanded={open} icon="clock" onClick={() => setOpen(!open)}>
        Time
      </Button>
      {Object.keys(filters).length > 0 && (
        <Button look="quiet" small onClick={() => setQuery(Object.fromEntries(names.map((name) => [name, undefined])))}>
          Clear
        </Button>
      )}
      {open && (
        <div className="filter-times">
          <TimeField
            label="Created from"
            value={filters.created_from}
            onChange={(at) => setQuery({ created_from: at })}
          />
          <TimeField
            label="Created before"
            value={filters.created_to}
            onChange={(at) => setQuery({ created_to: at })}
          />
        </div>
      )}
    </search>
  )
}

// Searches when typing pauses, not with every letter.
function ResourceField({ value, onChange }: { value: string; onChange: (text: string) => void }) {
  const [text, setText] = useState(value)
  useEffect(() => setText(value), [value])
  // biome-ignore lint/correctness/useExhaustiveDependencies: only typing starts the wait
  useEffect(() => {
    if (text.trim() === value) return
    const timer = setTimeout(() => onChange(text.trim()), 350)
    return () => clearTimeout(timer)
  }, [text])
  return (
    <TextField
      label="Resource id"
      hideLabel
      type="search"
      placeholder="Resource id: order, customer…"
      value={text}
      onText={setText}
    />
  )
}

// The browser's own picker shows local time; the API gets the instant.
export function TimeField({
  label,
  value,
  onChange,
}: {
  label: string
  value: string | undefined
  onChange: (at: string | undefined) => void
}) {
  const date = value === undefined ? undefined : new Date(value)
  const local =
    date && !Number.isNaN(date.getTime())
      ? new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
      : ''
  return (
    <TextField
      label={label}
      type="datetime-local"
      value={local}
      onText={(text) => onChange(text === '' ? undefined : new Date(text).toISOString())}
    />
  )
}
