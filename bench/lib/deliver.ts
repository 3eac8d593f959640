// One signed delivery, as every contender but ours makes it: the same token, signed the same way, posted with undici's dispatch
// over keep-alive TLS. Nothing slower than what our own sender does.
import { createHash, generateKeyPairSync, sign } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Agent } from 'undici'

const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const header = Buffer.from(JSON.stringify({ alg: 'ES256', kid: 'sig_bench', typ: 'JWT' })).toString('base64url')

export type Deliver = (job: {
  id: string
  url: string
  body: Buffer
}) => Promise<{ status: number; durationMs: number }>

export function createDeliver(caFile: string): Deliver {
  const agent = new Agent({
    connect: { ca: readFileSync(caFile, 'utf8') },
    pipelining: 1,
    headersTimeout: 30_000,
    bodyTimeout: 30_000,
    keepAliveTimeout: 4_000,
  })
  return ({ id, url, body }) => {
    const startedAt = performance.now()
    const { origin, pathname } = new URL(url)
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'bench',
      'x-jwt-signature': token(id, body),
      'x-event-id': id,
      'x-event-type': 'order-closed',
      'x-attempt-number': '1',
    }
    return new Promise((resolve, reject) => {
      let status = 0
      agent.dispatch(
        { origin, path: pathname, method: 'POST', headers, body },
        {
          onRequestStart() {},
          onResponseStart(_controller, code) {
            status = code
          },
          onResponseData() {},
          onResponseEnd: () => resolve({ status, durationMs: Math.round(performance.now() - startedAt) }),
          onResponseError: (_controller, error) => reject(error),
        },
      )
    })
  }
}

let counter = 0
function token(id: string, body: Buffer): string {
  const iat = Math.floor(Date.now() / 1_000)
  const digest = createHash('sha256').update(body).digest('hex')
  const claims = `{"iss":"bench","iat":${iat},"exp":${iat + 300},"jti":"${++counter}","sub":"${id}","aud":"sub","digest":"${digest}"}`
  const input = `${header}.${Buffer.from(claims).toString('base64url')}`
  const signature = sign('sha256', Buffer.from(input), { key: privateKey, dsaEncoding: 'ieee-p1363' })
  return `${input}.${signature.toString('base64url')}`
}

// About 1 KiB, the size of a usual event.
export function payloadOf(id: string): Buffer {
  const event = { id, action: 'order-closed', created_at: '2026-01-05T12:00:00.123456+00:00', order: orderOf(id) }
  return Buffer.from(JSON.stringify(event))
}

export function orderOf(id: string) {
  return { id, state: 'completed', operation: 'buy', note: 'x'.repeat(880) }
}

// What the queues of the rivals carry.
export interface Job {
  readonly id: string
  readonly url: string
  readonly order: object
}

export function jobOf(urls: readonly string[], i: number, id = `job-${i}`): Job {
  return { id, url: urls[i % urls.length]!, order: orderOf(id) }
}
