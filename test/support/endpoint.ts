// A subscriber's endpoint: a real HTTPS server on loopback that keeps what it receives and answers as the test says.
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Authority, createAuthority } from './certificates.ts'

export interface Received {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  // biome-ignore lint/suspicious/noExplicitAny: tests look into events of every type
  readonly event: any
  readonly at: number
}

export type Answer =
  | number
  | { status: number; headers?: Record<string, string>; body?: string }
  | ((response: ServerResponse) => void)

export interface Endpoint {
  readonly url: string
  readonly port: number
  readonly received: Received[]
  answer: (received: Received) => Answer | Promise<Answer>
  until(count: number): Promise<Received[]> // waits for that many
  close(): Promise<void>
}

let authority: Promise<Authority> | undefined
export function testAuthority(): Promise<Authority> {
  authority ??= createAuthority()
  return authority
}

// `names` are further ones that its certificate is good for.
export async function startEndpoint(
  t: { after(work: () => Promise<void> | void): void },
  names: readonly string[] = [],
): Promise<Endpoint> {
  const { cert, key } = await (await testAuthority()).issue(['localhost', '127.0.0.1', ...names])
  const received: Received[] = []
  const server = createServer({ cert, key }, (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', async () => {
      const body = Buffer.concat(chunks)
      const one: Received = {
        path: request.url ?? '',
        headers: request.headers,
        body,
        event: JSON.parse(body.toString()),
        at: Date.now(),
      }
      received.push(one)
      const answer = await endpoint.answer(one)
      if (typeof answer === 'function') return answer(response)
      const { status, headers = {}, body: text = '' } = typeof answer === 'number' ? { status: answer } : answer
      response.writeHead(status, headers).end(text)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const endpoint: Endpoint = {
    url: `https://localhost:${port}/hook`,
    port,
    received,
    answer: () => 200,
    async until(count) {
      await eventually(() => received.length >= count, `the endpoint to receive ${count}`)
      return received
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
  t.after(endpoint.close)
  return endpoint
}

// Polls until it holds; the deadline is generous, because timing never decides a test.
export async function eventually(
  check: () => boolean | Promise<boolean>,
  what: string,
  deadlineMs = 60_000,
): Promise<void> {
  const until = Date.now() + deadlineMs
  while (!(await check())) {
    if (Date.now() > until) throw new Error(`waited in vain for ${what}`)
    await sleep(15)
  }
}
