// One event: did it arrive, and if not, why. Its attempts, what was sent, and how to check the signature.
import { refresh, useRead } from '../../api/cache.ts'
import { call, onceKey, send } from '../../api/http.ts'
import { payloadText } from '../../api/signature.ts'
import type { EventDetails } from '../../api/webhook-types.ts'
import { useCalmly, useLive } from '../../app/live.tsx'
import { placeOf } from '../../app/nav.ts'
import { Link } from '../../app/router.tsx'
import { JsonText } from '../../ui/code.tsx'
import { CurlButton, Id } from '../../ui/copy.tsx'
import { GuardedButton } from '../../ui/guarded.tsx'
import { Loaded, Notice } from '../../ui/notice.tsx'
import { Card, Facts, Page } from '../../ui/page.tsx'
import { EventBadge } from '../../ui/status.tsx'
import { Countdown, Time } from '../../ui/time.tsx'
import { useAction, useToast } from '../../ui/toast.tsx'
import { AttemptList } from './attempts.tsx'
import { verdictOf } from './explain.ts'
import { SignatureCheck } from './signature-check.tsx'

interface Shown {
  readonly event: EventDetails
  readonly payload: string // as it was sent, byte for byte
}

export function EventPage({ id }: { id: string }) {
  const path = `/webhooks/events/${encodeURIComponent(id)}`
  const read = useRead<Shown>(path, async () => {
    const { data, text } = await call<EventDetails>('GET', path)
    return { event: data, payload: payloadText(text) }
  })
  const again = useCalmly(() => refresh(path), 300)
  useLive('webhook_event', (event) => event.id === id && again())
  useLive('attempt', (attempt) => attempt.event_id === id && again())
  return (
    <Page
      title={read.data?.event.action ?? 'Event'}
      name={read.data ? `${read.data.event.action} event` : 'Event'}
      back={{ to: '/events', label: 'Events' }}
      about={<Id id={id} what="event id" />}
      actions={read.data && <Actions event={read.data.event} />}
    >
      <Loaded read={read} lines={10}>
        {({ event, payload }) => (
          <>
            <VerdictNotice event={event} />
            <div className="detail">
              <div className="detail-main">
                <Card title="Attempts" about="Newest first">
                  <AttemptList attempts={event.attempts} />
                </Card>
                <Card title="Payload" about="The body, the same at every attempt">
                  <JsonText raw={payload} label="Payload" />
                </Card>
                <SignatureCheck event={event} payload={payload} />
              </div>
              <aside className="detail-side">
                <Card title="About">
                  <EventFacts event={event} />
                </Card>
              </aside>
            </div>
          </>
        )}
      </Loaded>
    </Page>
  )
}

function Actions({ event }: { event: EventDetails }) {
  const [busy, run] = useAction()
  const toast = useToast()
  const path = `/webhooks/events/${event.id}`
  const resend = () =>
    run(async () => {
      await send('POST', `${path}/resend`, undefined, onceKey())
      toast.say('Queued: it is being sent now.')
      refresh('/webhooks/events')
    })
  return (
    <>
      <CurlButton call={{ path }} />
      <GuardedButton
        needs="webhooks:write"
        look="primary"
        icon="resend"
        busy={busy}
        disabled={event.state === 'pending'}
        title={event.state === 'pending' ? 'It is pending: it will be sent without a resend' : undefined}
        onClick={resend}
      >
        Resend
      </GuardedButton>
    </>
  )
}

function VerdictNotice({ event }: { event: EventDetails }) {
  const { kind, title, advice } = verdictOf(event, event.attempts)
  return (
    <div className="verdict" aria-live="polite">
      <Notice kind={kind} title={title}>
        {advice && <p>{advice}</p>}
        {event.state === 'pending' && event.next_attempt_at && (
          <p>
            <Countdown
              before="Next attempt in "
              until={event.next_attempt_at}
              past="The next attempt is due. A failing endpoint is spared between tries."
            />
          </p>
        )}
        {event.error_reason === 'subscription_disabled' && (
          <p>
            <Link to={`/subscriptions/${event.subscription_id}`}>Go to the subscription</Link>
          </p>
        )}
      </Notice>
    </div>
  )
}

function EventFacts({ event }: { event: EventDetails }) {
  const place = placeOf(event.resource_id)
  return (
    <Facts
      facts={[
        [
          'State',
          <EventBadge
            key="s"
            state={event.state}
            tries={event.delivery_tries}
            delivered={event.delivered_at !== null}
          />,
        ],
        ['Created', <Time key="c" at={event.created_at} look="full" />],
        ['Delivered', <Time key="d" at={event.delivered_at} look="full" />],
        ['Last attempt', <Time key="l" at={event.last_attempt_at} look="full" />],
        ['Tries', event.delivery_tries],
        [
          'About',
          place ? (
            <Link key="r" to={place}>
              {event.resource_id}
            </Link>
          ) : (
            <Id key="r" id={event.resource_id} what="resource id" />
          ),
        ],
        [
          'Subscription',
          <Link key="u" to={`/subscriptions/${event.subscription_id}`}>
            {event.delivery_url}
          </Link>,
        ],
        ['Publication', <Id key="p" id={event.publication_id} what="publication id" />],
        [
          'More',
          <Link key="m" to={`/events?resource_id=${encodeURIComponent(event.resource_id)}`}>
            All events about this resource
          </Link>,
        ],
      ]}
    />
  )
}
