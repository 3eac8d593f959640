// What could not be delivered lately: events that were given up and those that are still being retried.
import { useRead } from '../../api/cache.ts'
import type { Page } from '../../api/types.ts'
import type { WebhookEvent } from '../../api/webhook-types.ts'
import { Link } from '../../app/router.tsx'
import { Empty, Loaded } from '../../ui/notice.tsx'
import { Card } from '../../ui/page.tsx'
import { EventBadge } from '../../ui/status.tsx'
import { Time } from '../../ui/time.tsx'
import { shortReason } from './explain.ts'

type Events = Page<'events', WebhookEvent>

export function RecentFailures() {
  const failed = useRead<Events>('/webhooks/events?state=error&limit=6')
  const pending = useRead<Events>('/webhooks/events?state=pending&limit=50')
  const retried = (pending.data?.events ?? []).filter(
    (event) => event.delivery_tries > 0 && event.delivered_at === null,
  )
  return (
    <Card title="Recent failures" actions={<Link to="/events?state=error">All failed events</Link>}>
      <Loaded read={failed}>
        {({ events }) => {
          const rows = [...events, ...retried].sort((a, b) => timeOf(b).localeCompare(timeOf(a))).slice(0, 6)
          if (rows.length === 0) {
            return (
              <Empty icon="check" title="Nothing failed">
                Every event that was sent has arrived.
              </Empty>
            )
          }
          return (
            <ul className="feed">
              {rows.map((event) => (
                <li key={event.id}>
                  <Link to={`/events/${event.id}`}>
                    <span className="feed-main">
                      <span>{event.action}</span>
                      <span className="sub">{shortReason(event)}</span>
                    </span>
                    <EventBadge state={event.state} tries={event.delivery_tries} />
                    <Time at={timeOf(event)} look="ago" />
                  </Link>
                </li>
              ))}
            </ul>
          )
        }}
      </Loaded>
    </Card>
  )
}

function timeOf(event: WebhookEvent): string {
  return event.last_attempt_at ?? event.created_at
}
