// Sends one request: pooled keep-alive connections, HTTP/1.1, no redirects, one deadline over DNS, connecting, TLS and the
// status line. Every address a name resolves to is vetted, and only vetted ones are dialled (resolve, vet, pin).
import { lookup as systemLookup } from 'node:dns/promises'
import { readFileSync } from 'node:fs'
import { isIP, type LookupFunction, type Socket } from 'node:net'
import tls from 'node:tls'
import { buildConnector, type Dispatcher, Pool, ProxyAgent } from 'undici'
import type { Config } from '../config.ts'
import type { TargetGuard } from '../webhooks/target.ts'
import { BlockedAddress, errorKindOf, type Outcome } from './outcome.ts'

const bodyLimitBytes = 16 * 1024
const connectionsPerOrigin = 100
const mostIdlePools = 1_000
const closeIdleAfterMs = 60_000

export type Resolve = (hostname: string) => Promise<{ address: string; family: number }[]>

export interface Sender {
  send(url: string, headers: readonly string[], body: Uint8Array): Promise<Outcome>
  close(): Promise<void>
}

interface Origin {
  readonly dispatcher: Dispatcher
  inFlight: number
  usedAt: number
}

const resolveAll: Resolve = (hostname) => systemLookup(hostname, { all: true })

export function createSender(config: Config, guard: TargetGuard, resolve: Resolve = resolveAll): Sender {
  const { webhookTimeoutMs: timeoutMs, webhookProxy } = config
  const secureContext = tls.createSecureContext({ ca: trustedAuthorities(config.webhookCaFile) })
  const vetted = async (hostname: string) => {
    const addresses = await resolve(hostname)
    const bad = addresses.find(({ address }) => !guard.allowsAddress(address))
    if (bad) throw new BlockedAddress(`${hostname} resolves to ${bad.address}, which is not public`)
    return addresses
  }
  const lookup: LookupFunction = (hostname, options, callback) => {
    vetted(hostname).then(
      (addresses) => {
        if (options.all) callback(null, addresses)
        else callback(null, addresses[0]!.address, addresses[0]!.family)
      },
      (error) => callback(error, ''),
    )
  }
  const connect = guardedConnector({ secureContext, lookup, timeoutMs }, guard)
  const poolOptions = {
    connections: connectionsPerOrigin,
    pipelining: 1,
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: 30_000,
    allowH2: false,
  }
  const proxy =
    webhookProxy === undefined
      ? undefined
      : new ProxyAgent({ ...poolOptions, uri: webhookProxy, requestTls: { secureContext } as never })
  const origins = new Map<string, Origin>()

  const originOf = (origin: string): Origin => {
    let found = origins.get(origin)
    if (!found) {
      found = { dispatcher: new Pool(origin, { ...poolOptions, connect }), inFlight: 0, usedAt: 0 }
      origins.set(origin, found)
    }
    return found
  }
  const closeIdle = () => {
    const now = performance.now()
    for (const [name, { dispatcher, inFlight, usedAt }] of origins) {
      if (inFlight > 0 || (now - usedAt < closeIdleAfterMs && origins.size <= mostIdlePools)) continue
      origins.delete(name)
      void dispatcher.close()
    }
  }
  const timer = setInterval(closeIdle, closeIdleAfterMs / 4)
  timer.unref()

  return {
    async send(url, headers, body) {
      const { origin, hostname, pathname, search } = new URL(url)
      const startedAt = performance.now()
      const request = { origin, path: pathname + search, method: 'POST' as const, headers: headers as string[], body }
      if (proxy) {
        // The proxy resolves the name again; vetting it here keeps partners from naming our own network.
        try {
          if (isIP(bare(hostname)) === 0) await vetted(hostname)
          else if (!guard.allowsAddress(bare(hostname))) throw new BlockedAddress(`${hostname} is not public`)
        } catch (error) {
          return {
            kind: errorKindOf(error as Error),
            detail: (error as Error).message,
            durationMs: Math.round(performance.now() - startedAt),
          }
        }
        return dispatch(proxy, request, timeoutMs, startedAt)
      }
      const target = originOf(origin)
      target.inFlight++
      const outcome = await dispatch(target.dispatcher, request, timeoutMs, startedAt)
      target.inFlight--
      target.usedAt = performance.now()
      return outcome
    },
    async close() {
      clearInterval(timer)
      await Promise.all([...[...origins.values()].map(({ dispatcher }) => dispatcher.destroy()), proxy?.destroy()])
    },
  }
}

function dispatch(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  timeoutMs: number,
  startedAt: number,
): Promise<Outcome> {
  return new Promise((resolve) => {
    let controller: Dispatcher.DispatchController | undefined
    let answer: { status: number; retryAfterMs: number | undefined } | undefined
    const chunks: Buffer[] = []
    let size = 0
    let over = false

    const finish = (outcome: (durationMs: number) => Outcome) => {
      if (over) return
      over = true
      clearTimeout(deadline)
      resolve(outcome(Math.round(performance.now() - startedAt)))
    }
    // Once there is a status, whatever the rest does is of no consequence: what arrived of the body is kept.
    const finishWith = (error: Error | undefined) => {
      if (answer)
        finish((durationMs) => ({
          kind: 'status',
          ...answer!,
          body: Buffer.concat(chunks).subarray(0, bodyLimitBytes),
          durationMs,
        }))
      else finish((durationMs) => ({ kind: errorKindOf(error!), detail: error!.message.slice(0, 500), durationMs }))
    }
    const drop = () => controller?.abort(new Error('the rest of the answer is not wanted'))
    const deadline = setTimeout(() => {
      if (answer) finishWith(undefined)
      else finish((durationMs) => ({ kind: 'timeout', detail: `no status within ${timeoutMs} ms`, durationMs }))
      drop()
    }, timeoutMs)

    dispatcher.dispatch(request, {
      onRequestStart(started) {
        controller = started
        if (over) drop() // the deadline passed while the connection was being made
      },
      onResponseStart(_controller, status, headers) {
        if (status >= 200) answer = { status, retryAfterMs: parseRetryAfter(headers['retry-after']) }
      },
      onResponseData(_controller, chunk) {
        chunks.push(chunk)
        size += chunk.length
        if (size < bodyLimitBytes) return
        finishWith(undefined)
        drop()
      },
      onResponseEnd: () => finishWith(undefined),
      onResponseError: (_controller, error) => finishWith(error),
    })
  })
}

// Seconds, or a date. Only a pause worth the name counts.
function parseRetryAfter(header: string | string[] | undefined): number | undefined {
  const text = [header].flat()[0]?.trim()
  if (!text) return undefined
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - Date.now()
  return ms > 0 ? ms : undefined
}

interface ConnectorOptions {
  readonly secureContext: tls.SecureContext
  readonly lookup: LookupFunction
  readonly timeoutMs: number
}

function guardedConnector(
  { secureContext, lookup, timeoutMs }: ConnectorOptions,
  guard: TargetGuard,
): buildConnector.connector {
  const connect = buildConnector({
    secureContext,
    lookup,
    timeout: timeoutMs,
    allowH2: false,
    maxCachedSessions: 1_000,
  } as buildConnector.BuildOptions)
  return (options, callback) => {
    const host = bare(options.hostname)
    if (isIP(host) !== 0 && !guard.allowsAddress(host))
      return callback(new BlockedAddress(`${host} is not public`), null)
    connect(options, (...[error, socket]) => {
      if (error) return callback(error, null)
      const address = (socket as Socket).remoteAddress ?? ''
      if (guard.allowsAddress(address)) return callback(null, socket as Socket)
      ;(socket as Socket).destroy()
      callback(new BlockedAddress(`connected to ${address}, which is not public`), null)
    })
  }
}

function trustedAuthorities(file: string | undefined): string[] {
  const usual = tls.getCACertificates('default')
  return file === undefined ? usual : [...usual, readFileSync(file, 'utf8')]
}

function bare(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '')
}
