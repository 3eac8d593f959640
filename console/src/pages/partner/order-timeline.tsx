// The states of an order in time, and the webhook events that each change caused, with how their delivery stands.
import { useRead } from '../../api/cache.ts'
import { get } from '../../api/http.ts'
import type { Order, Page } from '../../api/types.ts'
import type { EventDetails, WebhookEvent } from '../../api/webhook-types.ts'
import { useCalmly, useLive } from '../../app/live.tsx'
import { Link } from '../../app/router.tsx'
import { useMay } from '../../app/session.tsx'
import { Icon } from '../../ui/icon.tsx'
import { EventBadge, orderStateWords } from '../../ui/status.tsx'
import { Time } from '../../ui/time.tsx'
import { reasonWords } from './order-words.tsx'

interface Step {
  readonly at: string
  readonly state: string
  readonly events: readonly WebhookEvent[]
}

export function OrderTimeline({ order }: { order: Order }) {
  const may = useMay('webhooks:read')
  const events = useRead<readonly Step[]>(may ? `/webhooks/events?order_steps=${order.id}` : null, () =>
    readSteps(order.id),
  )
  const again = useCalmly(events.again, 500)
  useLive('webhook_event', (event) => event.resource_id === order.id && again())
  const steps = withKnownTimes(order, events.data ?? [])
  return (
    <ol className="timeline states">
      {steps.toReversed().map((step, i) => (
        <li key={`${step.at} ${step.state}`} className={i === 0 ? 'current' : ''}>
          <span className="timeline-mark">
            <Icon
              name={step.state === 'cancelled' ? 'cross' : step.state === 'completed' ? 'check' : 'clock'}
              size={12}
            />
          </span>
          <div className="timeline-state">
            <span className="timeline-title">
              {orderStateWords(step.state)}
              {step.state === 'cancelled' && <span className="sub">{reasonWords(order.state_reason)}</span>}
            </span>
            <Time at={step.at} />
          </div>
          {step.events.length > 0 && (
            <ul className="caused">
              {step.events.map((event) => (
                <li key={event.id}>
                  <Link to={`/events/${event.id}`}>{event.action}</Link>
                  <span className="soft ellipsis">{event.delivery_url.replace('https://', '')}</span>
                  <EventBadge
                    state={event.state}
                    tries={event.delivery_tries}
                    delivered={event.delivered_at !== null}
                  />
                </li>
              ))}
            </ul>
          )}
        </li>
      ))}
    </ol>
  )
}

// One publication for each change: any one of its events tells in its payload which state the order had then.
async function readSteps(orderId: string): Promise<Step[]> {
  const { events } = await get<Page<'events', WebhookEvent>>(
    `/webhooks/events?resource_id=${encodeURIComponent(orderId)}&limit=100`,
  )
  const publications = Map.groupBy(events.toReversed(), (event) => event.publication_id)
  return Promise.all(
    [...publications.values()].slice(0, 12).map(async (group) => {
      const { payload, created_at } = await get<EventDetails>(`/webhooks/events/${group[0]!.id}`)
      const { state } = (payload.partner_order ?? {}) as { state?: unknown }
      return { at: created_at, state: typeof state === 'string' ? state : group[0]!.action, events: group }
    }),
  )
}

// What the order itself knows is shown in any case: events exist only where somebody subscribed to them.
function withKnownTimes(order: Order, steps: readonly Step[]): Step[] {
  const first = order.operation === 'withdrawal' ? 'awaiting_confirmation' : 'completed'
  const known: Step[] = [{ at: order.created_at, state: first, events: [] }]
  if (order.processed_at) known.push({ at: order.processed_at, state: 'pending', events: [] })
  if (order.closed_at && first !== 'completed') known.push({ at: order.closed_at, state: order.state, events: [] })
  else if (!known.some(({ state }) => state === order.state) && !order.closed_at)
    known.push({ at: order.last_updated_at, state: order.state, events: [] })
  const missing = known.filter(({ state }) => !steps.some((step) => step.state === state))
  return [...steps, ...missing].sort((a, b) => Date.parse(a.at) - Date.parse(b.at) || place(a) - place(b))
}

const places = ['awaiting_confirmation', 'pending', 'processing', 'completed', 'cancelled']
function place({ state }: Step): number {
  return places.indexOf(state)
}
