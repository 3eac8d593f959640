// Medians, percentiles and ratios: what is reported is never a single run.
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN
}

export interface Latency {
  readonly p50: number
  readonly p99: number
  readonly p999: number
  readonly count: number
}

export function latencyOf(ms: readonly number[]): Latency {
  return { p50: percentile(ms, 0.5), p99: percentile(ms, 0.99), p999: percentile(ms, 0.999), count: ms.length }
}
