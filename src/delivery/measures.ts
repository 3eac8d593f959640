// What the engine tells about itself in /metrics.
import { type Metrics, secondsBuckets } from '../metrics.ts'
import { type Entry, isPaused, type Lane } from './lane.ts'
import { errorKinds, isSuccess, type Outcome } from './outcome.ts'

// Made once: the same object again is counted without a look at what it says.
const outcomes = Object.fromEntries(['delivered', 'status', ...errorKinds].map((outcome) => [outcome, { outcome }]))
const longBuckets = [...secondsBuckets, 60, 300, 1_800, 7_200, 86_400]

export interface Measures {
  attempted(entry: Entry, outcome: Outcome, startedAtMs: number, endedAtMs: number): void
  gauges(inFlight: () => number, lanes: ReadonlyMap<string, Lane>): void
}

export function countAttempts(metrics: Metrics): Measures {
  const attempts = metrics.counter('webhook_attempts_total', 'Delivery attempts by outcome.')
  const toFirst = metrics.histogram(
    'webhook_first_attempt_seconds',
    'From the creation of an event to its first attempt.',
    longBuckets,
  )
  const toDone = metrics.histogram(
    'webhook_completion_seconds',
    'From the creation of an event to its delivery.',
    longBuckets,
  )
  const durations = metrics.histogram('webhook_attempt_seconds', 'How long attempts take.', secondsBuckets)
  return {
    attempted(entry, outcome, startedAtMs, endedAtMs) {
      const delivered = isSuccess(outcome)
      attempts.add(outcomes[delivered ? 'delivered' : outcome.kind])
      durations.observe(outcome.durationMs / 1_000)
      const ageMs = entry.ageMs - entry.readAtMs
      if (entry.tries === 0) toFirst.observe((ageMs + startedAtMs) / 1_000)
      if (delivered) toDone.observe((ageMs + endedAtMs) / 1_000)
    },
    gauges(inFlight, lanes) {
      const count = (test: (lane: Lane) => boolean) => [...lanes.values()].filter(test).length
      metrics.gauge('webhook_attempts_in_flight', 'Attempts under way in this process.', inFlight)
      metrics.gauge('webhook_lanes', 'Endpoints this process works for, by state.', () => {
        const nowMs = performance.now()
        return [
          { labels: { state: 'paused' }, value: count((lane) => isPaused(lane, nowMs)) },
          { labels: { state: 'slow' }, value: count((lane) => lane.slow) },
          { labels: { state: 'all' }, value: lanes.size },
        ]
      })
    },
  }
}
