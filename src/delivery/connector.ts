// Makes the connections that webhooks travel on: resolve, vet, pin. Every address a name resolves to is vetted, only vetted ones
// are dialled, and the address that was reached is vetted again. Through a proxy the name is vetted before the proxy is asked.
import { Resolver, lookup as systemLookup } from 'node:dns/promises'
import { readFileSync } from 'node:fs'
import http from 'node:http'
import https from 'node:https'
import { isIP, type LookupFunction, type Socket } from 'node:net'
import tls from 'node:tls'
import { buildConnector } from 'undici'
import type { Config } from '../config.ts'
import type { TargetGuard } from '../webhooks/target.ts'
import { BlockedAddress, ProxyRefused, UnknownHost } from './outcome.ts'

export type Resolve = (hostname: string) => Promise<{ address: string; family: number }[]>

// Names are asked for without the system's resolver, whose few threads a handful of dead name servers would occupy for everybody.
// It has the word only on this machine's own names and on what DNS does not know (a hosts file).
const resolver = new Resolver({ timeout: 3_000, tries: 2 })
const resolveAll: Resolve = async (hostname) => {
  if (/(^|\.)localhost\.?$/i.test(hostname)) return systemLookup(hostname, { all: true })
  const [four, six] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
  const addresses = [
    ...(four.status === 'fulfilled' ? four.value.map((address) => ({ address, family: 4 })) : []),
    ...(six.status === 'fulfilled' ? six.value.map((address) => ({ address, family: 6 })) : []),
  ]
  if (addresses.length > 0) return addresses
  const unknown = [four, six].every(
    (each) =>
      each.status === 'fulfilled' || /^(ENOTFOUND|ENODATA)$/.test((each.reason as { code?: string }).code ?? ''),
  )
  if (unknown) return systemLookup(hostname, { all: true })
  throw new UnknownHost(`${hostname} could not be resolved: no name server gave an answer`)
}
const sessionsKept = 1_000

export function createConnector(
  { webhookTimeoutMs: timeoutMs, webhookProxy, webhookCaFile }: Config,
  guard: TargetGuard,
  resolve: Resolve = resolveAll,
): buildConnector.connector {
  const secureContext = tls.createSecureContext({ ca: trustedAuthorities(webhookCaFile) })
  const vetted: Resolve = async (hostname) => {
    const addresses = isIP(hostname) ? [{ address: hostname, family: isIP(hostname) }] : await resolve(hostname)
    if (addresses.length === 0) throw new UnknownHost(`${hostname} resolves to nothing`)
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
  const connect = buildConnector({
    secureContext,
    lookup,
    timeout: timeoutMs,
    allowH2: false,
    maxCachedSessions: sessionsKept,
  } as buildConnector.BuildOptions)

  const direct: buildConnector.connector = (options, callback) => {
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
  if (webhookProxy === undefined) return direct
  const proxy = new URL(webhookProxy)
  // The proxy resolves the name again, by its own rules; vetting it here keeps partners from naming our own network.
  return (options, callback) => {
    const target = `${options.hostname}:${options.port || 443}`
    vetted(bare(options.hostname))
      .then(() => openTunnel(proxy, target, secureContext, timeoutMs))
      .then(
        (httpSocket) => connect({ ...options, httpSocket }, callback),
        (error) => callback(error, null),
      )
  }
}

// Asks a proxy for a connection to the target (CONNECT). The socket carries whatever comes next.
function openTunnel(
  proxy: URL,
  target: string,
  secureContext: tls.SecureContext,
  timeoutMs: number,
): Promise<tls.TLSSocket> {
  const login = decodeURIComponent(`${proxy.username}:${proxy.password}`)
  const secure = proxy.protocol === 'https:'
  const request = (secure ? https : http).request({
    host: bare(proxy.hostname),
    port: proxy.port || (secure ? 443 : 80),
    ...(secure ? { secureContext } : {}),
    method: 'CONNECT',
    path: target,
    agent: false,
    headers: {
      host: target,
      ...(login === ':' ? {} : { 'proxy-authorization': `Basic ${Buffer.from(login).toString('base64')}` }),
    },
  })
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => request.destroy(new ProxyRefused('the proxy does not answer')), timeoutMs)
    request.once('error', reject)
    request.once('close', () => clearTimeout(timer))
    request.once('connect', ({ statusCode }, socket) => {
      clearTimeout(timer)
      if (statusCode === 200) return resolve(socket as tls.TLSSocket)
      socket.destroy()
      reject(new ProxyRefused(`the proxy answered ${statusCode}`))
    })
    request.end()
  })
}

function trustedAuthorities(file: string | undefined): string[] {
  const usual = tls.getCACertificates('default')
  return file === undefined ? usual : [...usual, readFileSync(file, 'utf8')]
}

function bare(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '')
}
