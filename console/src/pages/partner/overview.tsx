// How deliveries stand: outcomes over time, the figures that matter, endpoints that need attention, what failed last.
import { refresh, useRead } from '../../api/cache.ts'
import type { Stats } from '../../api/webhook-types.ts'
import { useCalmly, useLive } from '../../app/live.tsx'
import { Link, useQuery } from '../../app/router.tsx'
import { DeliveryChart } from '../../ui/chart.tsx'
import { CurlButton } from '../../ui/copy.tsx'
import { Segments } from '../../ui/fields.tsx'
import { GuardedLink } from '../../ui/guarded.tsx'
import { Empty, Loaded } from '../../ui/notice.tsx'
import { compact, percent, plural } from '../../ui/number.ts'
import { Card, Figure, Page } from '../../ui/page.tsx'
import { span, Time, useNow } from '../../ui/time.tsx'
import { Balances } from './balance-cards.tsx'
import { EndpointTable } from './endpoint-table.tsx'
import { RecentFailures } from './recent-failures.tsx'

const windows = [
  { value: '1h', label: '1 hour' },
  { value: '24h', label: '24 hours' },
  { value: '7d', label: '7 days' },
] as const
type Window = (typeof windows)[number]['value']
const statsEveryMs = 4_000 // the service counts in steps of two seconds

export function OverviewPage() {
  const [query, setQuery] = useQuery()
  const window = windows.find(({ value }) => value === query.window)?.value ?? '24h'
  const path = `/webhooks/stats?window=${window}`
  const stats = useRead<Stats>(path)
  const again = useCalmly(() => refresh('/webhooks/stats', '/webhooks/events'), statsEveryMs)
  useLive('attempt', again)
  useLive('webhook_event', again)
  return (
    <Page
      title="Overview"
      name="Overview"
      actions={
        <>
          <CurlButton call={{ path }} />
          <Segments<Window>
            label="Time span"
            options={windows}
            value={window}
            onChange={(value) => setQuery({ window: value === '24h' ? undefined : value })}
          />
        </>
      }
    >
      <Loaded read={stats} lines={8}>
        {(data) => (data.subscriptions.length === 0 ? <Start /> : <Charts stats={data} />)}
      </Loaded>
      <div className="columns">
        <RecentFailures />
        <Balances />
      </div>
    </Page>
  )
}

function Charts({ stats }: { stats: Stats }) {
  return (
    <>
      <div className="figures">
        <Figure
          name="Success rate"
          value={percent(stats.success_rate)}
          note={`${plural(stats.attempts, 'attempt')}, ${compact(stats.failed)} failed`}
          {...(stats.success_rate !== null && stats.success_rate < 0.95 ? { tone: 'bad' as const } : {})}
        />
        <Figure
          name="Response time"
          value={stats.latency_ms ? span(stats.latency_ms.p50) : '–'}
          note={
            stats.latency_ms ? `p90 ${span(stats.latency_ms.p90)} · p99 ${span(stats.latency_ms.p99)}` : 'no attempts'
          }
        />
        <Figure
          name="Waiting"
          value={compact(stats.pending)}
          note={stats.pending === 0 ? 'nothing to deliver' : 'to be delivered'}
        />
        <Oldest at={stats.oldest_undelivered_at} />
      </div>
      <Card title="Deliveries" about="Attempts by outcome">
        <DeliveryChart buckets={stats.buckets} bucketSeconds={stats.bucket_seconds} />
      </Card>
      <Card title="Endpoints" flush actions={<Link to="/subscriptions">All subscriptions</Link>}>
        <EndpointTable rows={stats.subscriptions} />
      </Card>
    </>
  )
}

function Oldest({ at }: { at: string | null }) {
  const now = useNow()
  if (at === null) return <Figure name="Oldest undelivered" value="None" note="everything has arrived" tone="good" />
  const age = now - Date.parse(at)
  return (
    <Figure
      name="Oldest undelivered"
      value={span(Math.max(0, age))}
      note={
        <>
          since <Time at={at} />
        </>
      }
      {...(age > 60_000 ? { tone: 'warn' as const } : {})}
    />
  )
}

function Start() {
  return (
    <Card>
      <Empty
        icon="subscriptions"
        title="No subscription yet"
        action={
          <GuardedLink needs="webhooks:write" look="primary" icon="plus" to="/subscriptions/new">
            Subscribe an endpoint
          </GuardedLink>
        }
      >
        Tell us where your events shall go: any HTTPS address that answers with a 2xx status.
      </Empty>
    </Card>
  )
}
