// HTTP where fetch is too polite: any Host header, any method, and bytes that are not HTTP at all.
import { request } from 'node:http'
import { connect } from 'node:net'

export interface RawReply {
  readonly status: number
  readonly headers: Record<string, string | string[] | undefined>
  readonly text: string
}

export function rawRequest(
  url: string,
  options: { method?: string; headers?: Record<string, string>; body?: string } = {},
): Promise<RawReply> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: options.method ?? 'GET', headers: options.headers ?? {}, agent: false })
    sent.once('error', reject)
    sent.once('response', async (response) => {
      let text = ''
      for await (const chunk of response.setEncoding('utf8')) text += chunk
      resolve({ status: response.statusCode!, headers: response.headers, text })
    })
    sent.end(options.body)
  })
}

// Sends the bytes and gives back everything the service answers until it closes the connection.
export function sendBytes(url: string, bytes: string | Uint8Array): Promise<string> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(bytes))
    let text = ''
    socket.setEncoding('latin1')
    socket.on('data', (chunk: string) => {
      text += chunk
    })
    socket.once('close', () => resolve(text))
    socket.once('error', reject)
  })
}
