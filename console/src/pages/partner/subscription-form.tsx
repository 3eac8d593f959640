// Creating and editing a subscription. What the service refuses is shown at the field that it names.
import { type FormEvent, useRef, useState } from 'react'
import { refresh, useRead } from '../../api/cache.ts'
import { type ApiError, onceKey, send, toApiError } from '../../api/http.ts'
import { eventTypes, type Subscription } from '../../api/webhook-types.ts'
import { navigate } from '../../app/router.tsx'
import { Button, LinkButton } from '../../ui/button.tsx'
import { CurlButton } from '../../ui/copy.tsx'
import { Choices, TextField } from '../../ui/fields.tsx'
import { ErrorNotice, Loaded } from '../../ui/notice.tsx'
import { Card, Page } from '../../ui/page.tsx'
import { useToast } from '../../ui/toast.tsx'

interface Values {
  readonly url: string
  readonly events: readonly string[]
  readonly description: string
  readonly rate: string
}

export function NewSubscriptionPage() {
  const once = useRef(onceKey())
  const toast = useToast()
  const save = async (values: Values) => {
    const created = await send<Subscription>('POST', '/webhooks/subscriptions', bodyOf(values), once.current)
    refresh('/webhooks/subscriptions', '/webhooks/stats')
    toast.say('Subscribed. Send a test event to see whether it arrives.')
    navigate(`/subscriptions/${created.id}`)
  }
  return (
    <Page title="New subscription" name="New subscription" back={{ to: '/subscriptions', label: 'Subscriptions' }}>
      <SubscriptionForm
        first={{ url: '', events: [], description: '', rate: '' }}
        verb="Subscribe"
        save={save}
        cancelTo="/subscriptions"
        curl={(values) => ({ method: 'POST', path: '/webhooks/subscriptions', body: bodyOf(values) })}
      />
    </Page>
  )
}

export function EditSubscriptionPage({ id }: { id: string }) {
  const path = `/webhooks/subscriptions/${encodeURIComponent(id)}`
  const read = useRead<Subscription>(path)
  const toast = useToast()
  const save = async (values: Values) => {
    await send('PATCH', path, { description: '', rate_limit_per_second: null, ...bodyOf(values) })
    refresh('/webhooks/subscriptions', '/webhooks/stats')
    toast.say('Saved. The next attempt of any event uses it.')
    navigate(`/subscriptions/${id}`)
  }
  return (
    <Page
      title="Edit subscription"
      name="Edit subscription"
      back={{ to: `/subscriptions/${id}`, label: 'Subscription' }}
    >
      <Loaded read={read}>
        {({ url, events, description, rate_limit_per_second: rate }) => (
          <SubscriptionForm
            first={{ url, events, description, rate: rate === null ? '' : String(rate) }}
            verb="Save"
            save={save}
            cancelTo={`/subscriptions/${id}`}
            curl={(values) => ({ method: 'PATCH', path, body: bodyOf(values) })}
          />
        )}
      </Loaded>
    </Page>
  )
}

function bodyOf({ url, events, description, rate }: Values) {
  return {
    url: url.trim(),
    events,
    ...(description.trim() === '' ? {} : { description: description.trim() }),
    ...(rate.trim() === '' ? {} : { rate_limit_per_second: Number(rate) }),
  }
}

function mistakesIn({ url, events, rate }: Values): Record<string, string> {
  const mistakes: Record<string, string> = {}
  if (!URL.canParse(url.trim()) || new URL(url.trim()).protocol !== 'https:')
    mistakes.url = 'An https:// address is needed.'
  if (events.length === 0) mistakes.events = 'Choose at least one event type.'
  if (rate.trim() !== '' && !/^[1-9]\d{0,2}$|^1000$/.test(rate.trim())) mistakes.rate = 'A whole number from 1 to 1000.'
  return mistakes
}

function SubscriptionForm({
  first,
  verb,
  save,
  cancelTo,
  curl,
}: {
  first: Values
  verb: string
  save: (values: Values) => Promise<void>
  cancelTo: string
  curl: (values: Values) => Parameters<typeof CurlButton>[0]['call']
}) {
  const [values, setValues] = useState(first)
  const [tried, setTried] = useState(false)
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<ApiError>()
  const set = (change: Partial<Values>) => {
    setValues({ ...values, ...change })
    setError(undefined)
  }
  const mistakes = tried ? mistakesIn(values) : {}
  const refused = (field: string) => (error?.message.startsWith(`${field} `) ? error.message : undefined)
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    setTried(true)
    if (busy || Object.keys(mistakesIn(values)).length > 0) return
    setBusy(true)
    try {
      await save(values)
    } catch (failure) {
      setError(toApiError(failure))
      setBusy(false)
    }
  }
  return (
    <Card>
      <form className="form" onSubmit={submit} noValidate>
        <TextField
          label="Endpoint URL"
          mono
          type="url"
          inputMode="url"
          placeholder="https://partner.example/hooks"
          hint="HTTPS, reachable from the internet. Redirects are not followed."
          value={values.url}
          onText={(url) => set({ url })}
          error={mistakes.url ?? refused('url')}
        />
        <Choices
          legend="Event types"
          options={Object.entries(eventTypes).map(([value, hint]) => ({ value, label: value, hint }))}
          chosen={values.events}
          onChange={(events) => set({ events })}
          error={mistakes.events ?? refused('events')}
        />
        <div className="form-row">
          <TextField
            label="Description"
            optional
            maxLength={500}
            value={values.description}
            onText={(description) => set({ description })}
            error={refused('description')}
          />
          <TextField
            label="Most deliveries a second"
            optional
            inputMode="numeric"
            placeholder="no limit"
            value={values.rate}
            onText={(rate) => set({ rate })}
            error={mistakes.rate ?? refused('rate_limit_per_second')}
          />
        </div>
        {error && <ErrorNotice error={error} />}
        <div className="form-foot">
          <Button look="primary" type="submit" busy={busy}>
            {verb}
          </Button>
          <LinkButton to={cancelTo}>Cancel</LinkButton>
          <CurlButton call={curl(values)} />
        </div>
      </form>
    </Card>
  )
}
