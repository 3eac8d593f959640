// One subscription: how it fares, a test with the endpoint's answer, and everything that can be done with it.
import { useState } from 'react'
import { refresh, useRead } from '../../api/cache.ts'
import { send } from '../../api/http.ts'
import type { Stats, Subscription } from '../../api/webhook-types.ts'
import { useCalmly, useLive } from '../../app/live.tsx'
import { Link, navigate } from '../../app/router.tsx'
import { DeliveryChart } from '../../ui/chart.tsx'
import { CurlButton, Id } from '../../ui/copy.tsx'
import { Ask } from '../../ui/dialog.tsx'
import { GuardedButton, GuardedLink } from '../../ui/guarded.tsx'
import { Loaded } from '../../ui/notice.tsx'
import { compact, percent, plural } from '../../ui/number.ts'
import { Card, Facts, Figure, Page } from '../../ui/page.tsx'
import { Badge, HealthBadge } from '../../ui/status.tsx'
import { span, Time } from '../../ui/time.tsx'
import { useAction, useToast } from '../../ui/toast.tsx'
import { DisabledNotice, HealthNotice } from './subscription-notices.tsx'
import { TestCard } from './subscription-test.tsx'

export function SubscriptionPage({ id }: { id: string }) {
  const path = `/webhooks/subscriptions/${encodeURIComponent(id)}`
  const statsPath = `/webhooks/stats?window=24h&subscription_id=${encodeURIComponent(id)}`
  const read = useRead<Subscription>(path)
  const stats = useRead<Stats>(read.data ? statsPath : null)
  const again = useCalmly(() => refresh(statsPath, path), 3_000)
  useLive('attempt', (attempt) => attempt.subscription_id === id && again())
  const own = stats.data?.subscriptions[0]
  return (
    <Page
      title={read.data?.url ?? 'Subscription'}
      name="Subscription"
      about={<Id id={id} what="subscription id" />}
      back={{ to: '/subscriptions', label: 'Subscriptions' }}
      actions={read.data && <Actions subscription={read.data} path={path} />}
    >
      <Loaded read={read} lines={8}>
        {(subscription) => (
          <>
            {subscription.state === 'disabled' && <DisabledNotice subscription={subscription} />}
            {own && subscription.state === 'enabled' && <HealthNotice own={own} />}
            <div className="detail">
              <div className="detail-main">
                <Loaded read={stats}>
                  {(data) => (
                    <Card title="Last 24 hours" actions={<Link to={`/events?subscription_id=${id}`}>Its events</Link>}>
                      <div className="figures inside">
                        <Figure
                          name="Success rate"
                          value={percent(data.success_rate)}
                          note={plural(data.attempts, 'attempt')}
                        />
                        <Figure
                          name="Response time"
                          value={data.latency_ms ? span(data.latency_ms.p50) : '–'}
                          note={data.latency_ms ? `p99 ${span(data.latency_ms.p99)}` : 'no attempts'}
                        />
                        <Figure name="Waiting" value={compact(data.pending)} note="to be delivered" />
                      </div>
                      <DeliveryChart buckets={data.buckets} bucketSeconds={data.bucket_seconds} />
                    </Card>
                  )}
                </Loaded>
                <TestCard id={id} path={path} />
              </div>
              <aside className="detail-side">
                <Card title="About">
                  <Facts
                    facts={[
                      ['Health', own ? <HealthBadge key="h" health={own.health} /> : '–'],
                      ['Description', subscription.description || <span className="faint">none</span>],
                      [
                        'Event types',
                        <span key="e" className="badges">
                          {subscription.events.map((each) => (
                            <Badge key={each}>{each}</Badge>
                          ))}
                        </span>,
                      ],
                      [
                        'Rate limit',
                        subscription.rate_limit_per_second === null
                          ? 'none'
                          : `${subscription.rate_limit_per_second} a second`,
                      ],
                      ['Created', <Time key="c" at={subscription.created_at} look="full" />],
                    ]}
                  />
                </Card>
              </aside>
            </div>
          </>
        )}
      </Loaded>
    </Page>
  )
}

function Actions({ subscription, path }: { subscription: Subscription; path: string }) {
  const [asking, setAsking] = useState<'delete' | 'disable'>()
  const [busy, run] = useAction()
  const toast = useToast()
  const retryNow = () =>
    run(async () => {
      const { retried } = await send<{ retried: number }>('POST', `${path}/retry-now`)
      toast.say(retried === 0 ? 'No retry is waiting.' : `${plural(retried, 'retry', 'retries')} brought forward.`)
      refresh('/webhooks')
    })
  return (
    <>
      <CurlButton call={{ path }} />
      {subscription.state === 'enabled' && (
        <>
          <GuardedButton needs="webhooks:write" icon="resend" busy={busy} onClick={retryNow}>
            Retry now
          </GuardedButton>
          <GuardedButton needs="webhooks:write" icon="pause" onClick={() => setAsking('disable')}>
            Disable
          </GuardedButton>
        </>
      )}
      <GuardedLink needs="webhooks:write" icon="edit" to={`/subscriptions/${subscription.id}/edit`}>
        Edit
      </GuardedLink>
      <GuardedButton needs="webhooks:write" icon="trash" onClick={() => setAsking('delete')}>
        Delete
      </GuardedButton>
      {asking === 'disable' && (
        <Ask
          title="Disable this subscription?"
          verb="Disable"
          act={() => send('POST', `${path}/disable`)}
          onDone={() => refresh('/webhooks')}
          onClose={() => setAsking(undefined)}
        >
          <p>
            Nothing is sent while it is disabled, and nothing is lost: what happens meanwhile is kept and can be resent.
          </p>
        </Ask>
      )}
      {asking === 'delete' && (
        <Ask
          title="Delete this subscription?"
          verb="Delete"
          look="danger"
          act={() => send('DELETE', path)}
          onDone={() => {
            refresh('/webhooks')
            navigate('/subscriptions')
          }}
          onClose={() => setAsking(undefined)}
        >
          <p>
            <strong>{subscription.url}</strong> gets nothing any more. Its waiting events fail with the reason
            subscription_deleted and cannot be resent. To pause it, disable it instead.
          </p>
        </Ask>
      )}
    </>
  )
}
