// Follows /v1/stream: collects what it is told, waits for something, and knows when it ended.
import assert from 'node:assert/strict'
import { type IncomingMessage, request } from 'node:http'
import type { Body } from './client.ts'
import { eventually } from './endpoint.ts'

export interface Told {
  readonly event: string
  readonly data: Body
}

export interface TestStream {
  readonly response: IncomingMessage
  readonly told: readonly Told[]
  readonly text: () => string
  until(what: string, want: (told: Told) => boolean): Promise<Told>
  isEnded(): boolean
  leave(): void
}

export async function follow(
  t: { after(work: () => void): void },
  url: string,
  headers: Record<string, string>,
): Promise<TestStream> {
  const sent = request(`${url}/v1/stream`, { headers, agent: false })
  sent.end()
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    sent.once('response', resolve).once('error', reject)
  })
  const told: Told[] = []
  let text = ''
  let read = 0
  let ended = false
  response.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
    for (let end = text.indexOf('\n\n', read); end >= 0; end = text.indexOf('\n\n', read)) {
      const [, event, data] = /^event: (\w+)\ndata: (.*)$/.exec(text.slice(read, end)) ?? []
      if (event) told.push({ event, data: JSON.parse(data!) })
      read = end + 2
    }
  })
  response
    .on('error', () => {})
    .on('close', () => {
      ended = true
    })
  t.after(() => void response.destroy())
  return {
    response,
    told,
    text: () => text,
    async until(what, want) {
      await eventually(() => told.some(want), what).catch((error: Error) => {
        throw new Error(`${error.message}; it was told ${JSON.stringify(told)}`)
      })
      return told.find(want)!
    },
    isEnded: () => ended,
    leave: () => void response.destroy(),
  }
}

// As soon as it misses nothing more.
export async function followFromNow(...args: Parameters<typeof follow>): Promise<TestStream> {
  const stream = await follow(...args)
  assert.equal(stream.response.statusCode, 200)
  await stream.until('the first reset', ({ event }) => event === 'reset')
  return stream
}
