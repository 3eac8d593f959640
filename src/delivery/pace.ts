// How many attempts at endpoints that answer quickly are worth having under way. While this process still has time to spare, more
// of them get more done; once it is busy all the time, they only wait for each other, on connections whose handshakes cost more
// than the deliveries. Endpoints that are slow or unknown do not count: they wait for themselves.
import { performance } from 'node:perf_hooks'

const least = 64
const busy = 0.9

export interface Pace {
  limit(): number
  adjust(full: boolean): void // to be called now and then; `full`: whether the limit held something back
}

export function createPace(most: number, utilization: () => number = sinceLastAsked()): Pace {
  let limit = least
  return {
    limit: () => limit,
    adjust(full) {
      if (utilization() > busy) limit = Math.max(least, Math.floor(limit * 0.9))
      else if (full) limit = Math.min(most, Math.ceil(limit * 1.25))
    },
  }
}

// The share of the time since the last call in which the event loop had something to do.
function sinceLastAsked(): () => number {
  let last = performance.eventLoopUtilization()
  return () => {
    const now = performance.eventLoopUtilization()
    const { utilization } = performance.eventLoopUtilization(now, last)
    last = now
    return utilization
  }
}
