// Durations as counts in buckets, each a quarter wider than the one before: a percentile is right to within that, however many
// durations there were, and counts of any number of processes can be added.

const growth = 1.25
const lastMs = 130_000 // the longest that an attempt may be given

// The upper ends of the buckets, in ms; the last one takes what is longer.
export const bucketEnds: readonly number[] = makeEnds()

function makeEnds(): number[] {
  const ends = [1]
  while (ends.at(-1)! < lastMs) ends.push(Math.max(ends.at(-1)! + 1, Math.round(ends.at(-1)! * growth)))
  return ends
}

export function bucketOf(durationMs: number): number {
  let low = 0
  let high = bucketEnds.length - 1
  while (low < high) {
    const middle = (low + high) >> 1
    if (durationMs <= bucketEnds[middle]!) high = middle
    else low = middle + 1
  }
  return low
}

export interface Latency {
  readonly p50: number
  readonly p90: number
  readonly p99: number
}

// Null when nothing was counted.
export function percentiles(counts: readonly number[]): Latency | null {
  const total = counts.reduce((sum, count) => sum + count, 0)
  if (total === 0) return null
  return {
    p50: percentile(counts, total, 0.5),
    p90: percentile(counts, total, 0.9),
    p99: percentile(counts, total, 0.99),
  }
}

// In its bucket, as far in as its rank.
function percentile(counts: readonly number[], total: number, share: number): number {
  const rank = share * total
  let below = 0
  for (const [i, count] of counts.entries()) {
    if (count === 0 || below + count < rank) {
      below += count
      continue
    }
    const start = i === 0 ? 0 : bucketEnds[i - 1]!
    return Math.round(start + ((rank - below) / count) * (bucketEnds[i]! - start))
  }
  return bucketEnds.at(-1)!
}

export function addCounts(sum: number[], counts: readonly number[]): void {
  for (const [i, count] of counts.entries()) sum[i] = (sum[i] ?? 0) + count
}
