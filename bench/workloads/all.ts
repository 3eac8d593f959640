// Every workload with its counts; the quick ones are smaller, not different.
import { type DrainPlan, drain, type SenderName } from './drain.ts'
import { growthWorkload } from './growth.ts'
import { httpWorkload } from './http.ts'
import { latencyWorkload } from './latency.ts'
import { publishWorkload } from './publish.ts'
import { serviceWorkload } from './service.ts'
import type { Workload } from './workload.ts'

const queues = ['partner-service', 'pg-boss', 'graphile-worker', 'BullMQ, always', 'BullMQ, everysec']

export function workloads(quick: boolean, rounds: number): Workload[] {
  const count = (full: number) => (quick ? Math.ceil(full / 10) : full)
  const drainOf = (name: string, title: string, contenders: readonly string[], plan: DrainPlan): Workload => ({
    ...{ name, title, contenders, rounds },
    measure: async (stage, contender) => ({ ...(await drain(stage, contender as SenderName, plan)) }),
  })
  const latency = { contenders: queues.slice(0, 4), rounds, seconds: quick ? 4 : 10 }
  const everyday: Workload[] = [
    drainOf('drain-100', 'Drain over 100 endpoints', ['ceiling (a)', ...queues], {
      events: count(50_000),
      endpoints: 100,
    }),
    drainOf('drain-slow', 'Drain over 100 endpoints that take 50 ms (1 % take 1 s)', queues, {
      ...{ events: count(30_000), endpoints: 100, delayMs: 50, slowShare: 0.01, slowMs: 1_000 },
    }),
    publishWorkload('single', count(20_000), rounds),
    publishWorkload('batch', count(100_000), rounds),
    httpWorkload('publish-http', count(30_000), rounds),
    httpWorkload('get-partner', count(100_000), rounds),
    latencyWorkload({ ...latency, name: 'latency-100', title: 'Latency at 100 events/s', perSecond: 100 }),
  ]
  if (quick) return everyday
  return [
    ...everyday,
    latencyWorkload({ ...latency, name: 'latency-500', title: 'Latency at 500 events/s', perSecond: 500 }),
    latencyWorkload({ ...latency, name: 'latency-1000', title: 'Latency at 1,000 events/s', perSecond: 1_000 }),
    latencyWorkload({
      ...{ ...latency, name: 'latency-hanging', title: 'Latency at 500 events/s, a tenth of the endpoints hanging' },
      ...{ perSecond: 500, hangingShare: 0.1 },
    }),
    latencyWorkload({
      ...{
        ...latency,
        name: 'latency-pile',
        title: 'Latency at 500 events/s, one endpoint hung behind 100,000 events',
      },
      ...{ perSecond: 500, pile: 100_000, contenders: ['partner-service'] },
    }),
    drainOf('drain-1', 'Drain over 1 endpoint', ['ceiling (a)', ...queues], { events: 20_000, endpoints: 1 }),
    drainOf('drain-1000', 'Drain over 1,000 endpoints', ['ceiling (a)', ...queues], {
      events: 50_000,
      endpoints: 1_000,
    }),
    drainOf(
      'drain-embedded',
      'The embedded database beside PostgreSQL',
      ['partner-service', 'partner-service, embedded'],
      {
        ...{ events: 20_000, endpoints: 100 },
      },
    ),
    serviceWorkload(500_000, 1),
    growthWorkload(1_000_000, 1),
  ]
}
