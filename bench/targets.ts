// What we promised, each as a ratio of medians from one run. A target that is missed is shown as missed.
import type { Figures } from './workloads/workload.ts'

export type Medians = Readonly<Record<string, Readonly<Record<string, Figures>>>> // workload → contender → figures

export interface Target {
  readonly text: string
  readonly wanted: number
  readonly atMost?: boolean // the ratio must not be above, instead of not below
  actual(medians: Medians): number | undefined
}

const ours = 'partner-service'
const postgresRivals = ['pg-boss', 'graphile-worker']
const rivals = [...postgresRivals, 'BullMQ, always', 'BullMQ, everysec']

function ratio(workload: string, figure: string, against: readonly string[], best: 'highest' | 'lowest' = 'highest') {
  return (medians: Medians): number | undefined => {
    const mine = medians[workload]?.[ours]?.[figure]
    const others = against.flatMap((name) => medians[workload]?.[name]?.[figure] ?? [])
    if (mine === undefined || others.length === 0) return undefined
    return mine / (best === 'highest' ? Math.max(...others) : Math.min(...others))
  }
}

function between(a: readonly [string, string, string], b: readonly [string, string, string]) {
  return (medians: Medians): number | undefined => {
    const [x, y] = [a, b].map(([workload, contender, figure]) => medians[workload]?.[contender]?.[figure])
    return x === undefined || y === undefined ? undefined : x / y
  }
}

// biome-ignore format: a table reads best as one
export const targets: readonly Target[] = [
  { text: 'Drain, 100 endpoints: deliveries per sender CPU-second, to ceiling (a)', wanted: 0.6, actual: ratio('drain-100', 'perCpuSecond', ['ceiling (a)']) },
  { text: 'Drain, 100 endpoints: rate, to the best PostgreSQL rival', wanted: 1.15, actual: ratio('drain-100', 'rate', postgresRivals) },
  { text: 'Drain, 100 endpoints: rate, to BullMQ with appendfsync always', wanted: 1.3, actual: ratio('drain-100', 'rate', ['BullMQ, always']) },
  { text: 'Drain, receiver that takes 50 ms (1 % take 1 s): rate, to the best of all rivals', wanted: 1.25, actual: ratio('drain-slow', 'rate', rivals) },
  { text: 'Publishing single events from 32 callers: rate, to the best PostgreSQL rival', wanted: 5, actual: ratio('publish-single', 'rate', postgresRivals) },
  { text: 'Publishing batches of 1,000: rate, to the best PostgreSQL rival', wanted: 2, actual: ratio('publish-batch', 'rate', postgresRivals) },
  { text: 'Publishing over HTTP from 64 callers: per CPU-second, to a bare node:http server that parses the same', wanted: 0.5, actual: ratio('publish-http', 'perCpuSecond', ['bare node:http']) },
  { text: 'Latency at 100/s: p50, to the best rival', wanted: 1, atMost: true, actual: ratio('latency-100', 'p50', rivals, 'lowest') },
  { text: 'Latency at 100/s: p99, to the best rival', wanted: 1, atMost: true, actual: ratio('latency-100', 'p99', rivals, 'lowest') },
  { text: 'Latency at 1,000/s: median of the last third, to that of the first', wanted: 1.2, atMost: true, actual: (medians) => medians['latency-1000']?.[ours]?.growth },
  { text: 'A tenth of the endpoints hanging: p99 of the others, to the run without', wanted: 1.5, atMost: true, actual: between(['latency-hanging', ours, 'p99'], ['latency-500', ours, 'p99']) },
  { text: 'One endpoint hung behind 100,000 events: p99 of the others, to the run without', wanted: 1.5, atMost: true, actual: between(['latency-pile', ours, 'p99'], ['latency-500', ours, 'p99']) },
  { text: 'GET /partner: per CPU-second, to ceiling (c)', wanted: 0.65, actual: ratio('get-partner', 'perCpuSecond', ['bare node:http']) },
  { text: 'Sender CPU of a delivery with 1,000,000 waiting, to 10,000 waiting', wanted: 1.2, atMost: true, actual: between(['growth', '1,000,000 waiting', 'senderMicros'], ['growth', '10,000 waiting', 'senderMicros']) },
  { text: 'Sender CPU of a delivery after 1,000,000 deliveries, to 10,000 waiting', wanted: 1.2, atMost: true, actual: between(['growth', 'after 1,000,000 deliveries', 'senderMicros'], ['growth', '10,000 waiting', 'senderMicros']) },
]
