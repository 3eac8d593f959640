// Latency at a steady rate: from the call that publishes an event to its arrival, asked of the receiver for every id. With all
// endpoints well, with a tenth of them hanging, or with one hanging behind a hundred thousand events.
import { setTimeout as sleep } from 'node:timers/promises'
import { latencyOf, percentile } from '../lib/stats.ts'
import { prepareSender, type SenderName } from './drain.ts'
import type { Figures, Workload } from './workload.ts'

export interface LatencyPlan {
  readonly name: string
  readonly title: string
  readonly perSecond: number
  readonly seconds: number
  readonly hangingShare?: number
  readonly pile?: number // events waiting for the one endpoint that hangs; only we can be asked for that
  readonly contenders: readonly string[]
  readonly rounds: number
}

const endpoints = 100
const patienceMs = 15_000

export function latencyWorkload(plan: LatencyPlan): Workload {
  const { perSecond, seconds, hangingShare = 0, pile = 0 } = plan
  const hanging = Array.from({ length: pile > 0 ? 1 : Math.round(endpoints * hangingShare) }, (_, i) => i)
  return {
    ...plan,
    async measure(stage, contender): Promise<Figures> {
      const child = await prepareSender(stage, contender as SenderName, { events: 0, endpoints })
      try {
        await stage.receiver.call('behave', {})
        await child.call('start')
        await child.call('publishAtRate', { perSecond: 200, seconds: 3 }) // connections made, code warm
        await sleep(500)
        await stage.receiver.call('behave', { hanging })
        if (pile > 0) await child.call('pile', pile)
        await stage.receiver.call('reset')
        const before = await child.usage()
        const publishedAt = await child.call<Map<string, number>>('publishAtRate', { perSecond, seconds })
        const expected = Math.round((publishedAt.size * (endpoints - hanging.length)) / endpoints)
        const until = performance.now() + patienceMs
        let seen = { distinct: 0, total: 0 }
        while (seen.distinct < expected && performance.now() < until) {
          await sleep(50)
          seen = await stage.receiver.call('seen')
        }
        const after = await child.usage()
        const arrivals = await stage.receiver.call<Map<string, number>>('arrivals')
        const latencies: number[] = []
        for (const [id, at] of publishedAt) {
          const arrived = arrivals.get(id)
          if (arrived !== undefined) latencies.push(arrived - at)
        }
        const third = Math.floor(latencies.length / 3)
        return {
          ...latencyOf(latencies),
          growth: percentile(latencies.slice(-third), 0.5) / percentile(latencies.slice(0, third), 0.5),
          missing: Math.max(0, expected - latencies.length),
          repeated: seen.total - seen.distinct,
          cpuSeconds: after.cpuSeconds - before.cpuSeconds,
        }
      } finally {
        await child.stop()
      }
    },
  }
}
