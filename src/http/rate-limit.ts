// A token bucket for each caller, in memory, with the RateLimit headers of the IETF draft. Each process counts for itself.
import type { Config } from '../config.ts'

const mostBuckets = 50_000

export interface RateLimiter {
  // Takes one request from the caller's bucket; `retryAfterSeconds` is set when there was none left.
  take(caller: string): { headers: Record<string, string>; retryAfterSeconds?: number }
  look(caller: string): Record<string, string> // the headers, without taking anything
}

export function createRateLimiter(
  limit: Config['rateLimit'],
  nowMs: () => number = () => performance.now(),
): RateLimiter {
  if (!limit) return { take: () => ({ headers: {} }), look: () => ({}) }
  const { perSecond, burst } = limit
  const buckets = new Map<string, { tokens: number; at: number }>()
  const policy = `"default";q=${burst};w=${Math.max(1, Math.ceil(burst / perSecond))}`

  const refilled = (caller: string) => {
    const now = nowMs()
    let bucket = buckets.get(caller)
    if (!bucket) {
      if (buckets.size >= mostBuckets) buckets.delete(buckets.keys().next().value!)
      bucket = { tokens: burst, at: now }
      buckets.set(caller, bucket)
    }
    bucket.tokens = Math.min(burst, bucket.tokens + ((now - bucket.at) / 1_000) * perSecond)
    bucket.at = now
    return bucket
  }
  const describe = (tokens: number) => {
    const remaining = Math.floor(tokens)
    const untilNextSeconds = Math.ceil((1 - Math.min(1, tokens - remaining)) / perSecond)
    const headers = { 'ratelimit-policy': policy, ratelimit: `"default";r=${remaining};t=${untilNextSeconds}` }
    return { headers, untilNextSeconds }
  }

  return {
    take(caller) {
      const bucket = refilled(caller)
      const allowed = bucket.tokens >= 1
      if (allowed) bucket.tokens -= 1
      const { headers, untilNextSeconds } = describe(bucket.tokens)
      return allowed ? { headers } : { headers, retryAfterSeconds: untilNextSeconds }
    },
    look: (caller) => describe(refilled(caller).tokens).headers,
  }
}
