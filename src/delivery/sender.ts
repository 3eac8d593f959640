// Sends requests over pooled keep-alive connections, HTTP/1.1, no redirects. What the engine has in flight bounds the number of
// connections; a pool has no limit of its own, so that hung requests never hold up others to the same origin.
import { type buildConnector, Pool } from 'undici'
import type { Config } from '../config.ts'
import type { TargetGuard } from '../webhooks/target.ts'
import { createConnector, type Resolve } from './connector.ts'
import { exchange } from './exchange.ts'
import type { Outcome } from './outcome.ts'

export type { Resolve } from './connector.ts'

const mostIdlePools = 1_000
const closeIdleAfterMs = 60_000

export interface Sender {
  send(url: string, headers: readonly string[], body: Uint8Array): Promise<Outcome>
  close(): Promise<void>
}

interface Origin {
  readonly pool: Pool
  inFlight: number
  usedAt: number
}

export function createSender(config: Config, guard: TargetGuard, resolve?: Resolve): Sender {
  const { webhookTimeoutMs: timeoutMs } = config
  const connect = createConnector(config, guard, resolve)
  const origins = new Map<string, Origin>()

  const originOf = (origin: string): Origin => {
    let found = origins.get(origin)
    if (!found) {
      found = { pool: openPool(origin, connect), inFlight: 0, usedAt: 0 }
      origins.set(origin, found)
    }
    return found
  }
  const closeIdle = () => {
    const now = performance.now()
    for (const [name, { pool, inFlight, usedAt }] of origins) {
      if (inFlight > 0 || (now - usedAt < closeIdleAfterMs && origins.size <= mostIdlePools)) continue
      origins.delete(name)
      void pool.close()
    }
  }
  const timer = setInterval(closeIdle, closeIdleAfterMs / 4)
  timer.unref()

  return {
    async send(url, headers, body) {
      const { origin, path } = parse(url)
      const deadline = { startedAt: performance.now(), timeoutMs }
      const request = { origin, path, method: 'POST' as const, headers: headers as string[], body }
      const target = originOf(origin)
      target.inFlight++
      const outcome = await exchange(target.pool, request, deadline)
      target.inFlight--
      target.usedAt = performance.now()
      return outcome
    },
    async close() {
      clearInterval(timer)
      await Promise.all([...origins.values()].map(({ pool }) => pool.destroy()))
    },
  }
}

// The same few URLs again and again.
const parsed = new Map<string, { origin: string; path: string }>()
const mostParsed = 10_000

function parse(url: string): { origin: string; path: string } {
  let found = parsed.get(url)
  if (!found) {
    const { origin, pathname, search } = new URL(url)
    found = { origin, path: pathname + search }
    if (parsed.size >= mostParsed) parsed.clear()
    parsed.set(url, found)
  }
  return found
}

function openPool(origin: string, connect: buildConnector.connector): Pool {
  return new Pool(origin, {
    connect,
    pipelining: 1,
    headersTimeout: 0, // the deadline of the exchange rules
    bodyTimeout: 0,
    keepAliveTimeout: 4_000, // less than servers usually keep one; what an endpoint says itself (Keep-Alive) goes before it
    allowH2: false,
  })
}
