// When a failed attempt is tried again: the schedule, ±20 % so that a crowd does not come back together, and the endpoint's own
// Retry-After, which moves a retry later (by an hour at most) but never earlier.
const mostRetryAfterMs = 3_600_000

// `made` counts the attempts of this schedule, the failed one included. Undefined: that was the last.
export function retryDelayMs(
  schedule: readonly number[],
  made: number,
  retryAfterMs: number | undefined,
  random: () => number = Math.random,
): number | undefined {
  const pause = schedule[made - 1]
  if (pause === undefined) return undefined
  const jittered = pause * (0.8 + 0.4 * random())
  return Math.round(Math.max(jittered, Math.min(retryAfterMs ?? 0, mostRetryAfterMs)))
}
