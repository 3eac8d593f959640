// A partner's endpoint as it should be: HTTPS, every webhook verified before it is believed, answered at once, and each event
// counted only the first time it comes.
import { createHash } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose'
import type { Certificates } from './demo-certificates.ts'

export interface Webhook {
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer // the bytes as they arrived
}

export type Verdict =
  | { readonly ok: true; readonly algorithm: string; readonly claims: JWTPayload }
  | { readonly ok: false; readonly why: string }

// By the published keys: who signed it, for whom, when, and that body and event are those that were signed.
export async function verifyWebhook(
  { headers, body }: Webhook,
  keys: JWTVerifyGetKey,
  subscriptionId: string,
): Promise<Verdict> {
  const signature = headers['x-jwt-signature']
  if (typeof signature !== 'string') return { ok: false, why: 'it has no signature' }
  try {
    const { payload: claims, protectedHeader } = await jwtVerify(signature, keys, {
      audience: subscriptionId,
      algorithms: ['ES256', 'EdDSA', 'RS512'],
      requiredClaims: ['exp', 'iat', 'sub', 'digest'],
    })
    const digest = createHash('sha256').update(body).digest('hex')
    if (claims.digest !== digest) return { ok: false, why: 'the body is not the one that was signed' }
    if (claims.sub !== headers['x-event-id'] || claims.sub !== (JSON.parse(body.toString()) as { id?: unknown }).id)
      return { ok: false, why: 'the event is not the one that was signed' }
    return { ok: true, algorithm: protectedHeader.alg, claims }
  } catch (error) {
    return { ok: false, why: (error as Error).message }
  }
}

export interface Delivery extends Webhook {
  readonly verdict: Verdict
  readonly event: Readonly<Record<string, unknown>>
}

export interface Receiver {
  readonly url: string
  trust(keys: JWTVerifyGetKey, subscriptionId: string): void // from then on; before that nothing is accepted
  next(deadlineMs: number): Promise<Delivery> // each event once, in the order in which they came
  close(): Promise<void>
}

export async function startReceiver({ certificate: cert, key }: Certificates): Promise<Receiver> {
  let verify: ((webhook: Webhook) => Promise<Verdict>) | undefined
  const known = new Set<unknown>()
  const waiting: Delivery[] = []
  let arrived = Promise.withResolvers<void>()

  const server = createServer({ cert, key }, (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', async () => {
      const webhook = { headers: request.headers, body: Buffer.concat(chunks) }
      const verdict: Verdict = (await verify?.(webhook)) ?? { ok: false, why: 'nothing is expected' }
      response.writeHead(verdict.ok ? 204 : 400).end()
      const event = readEvent(webhook.body)
      if (verdict.ok && known.has(event.id)) return
      known.add(event.id)
      waiting.push({ ...webhook, verdict, event })
      arrived.resolve()
    })
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve))

  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    trust(keys, subscriptionId) {
      verify = (webhook) => verifyWebhook(webhook, keys, subscriptionId)
    },
    async next(deadlineMs) {
      const until = Date.now() + deadlineMs
      while (waiting.length === 0) {
        const timer = setTimeout(arrived.resolve, until - Date.now())
        await arrived.promise
        clearTimeout(timer)
        arrived = Promise.withResolvers()
        if (waiting.length === 0 && Date.now() >= until) throw new Error('A webhook was expected, but none came.')
      }
      return waiting.shift()!
    },
    async close() {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}

function readEvent(body: Buffer): Record<string, unknown> {
  try {
    return JSON.parse(body.toString()) as Record<string, unknown>
  } catch {
    return {}
  }
}
