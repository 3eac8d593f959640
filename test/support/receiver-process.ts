// The receiver's own process (see receiver.ts): a TLS endpoint that notes every arrival in memory, answers as told over IPC, and
// hands out its notes. Each answer's body carries the arrival's number, so the stored attempt shows which arrival it settled.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Arrival, Behaviour, FromReceiver, ToReceiver } from './receiver.ts'

const arrivals: Arrival[] = []
const seen = new Set<string>()
let behaviour: Behaviour = {}

function receive(request: IncomingMessage, response: ServerResponse): void {
  const eventId = String(request.headers['x-event-id'])
  const attempt = Number(request.headers['x-attempt-number'])
  request.resume()
  request.on('end', () => {
    const repeated = seen.has(`${eventId} ${attempt}`)
    seen.add(`${eventId} ${attempt}`)
    const arrival: Arrival = {
      number: arrivals.length,
      path: request.url ?? '',
      eventId,
      attempt,
      port: request.socket.remotePort ?? 0,
      signedAt: signedAt(String(request.headers['x-jwt-signature'])),
      at: Date.now(),
      endedAt: null,
      status: null,
    }
    arrivals.push(arrival)
    response.on('close', () => {
      arrival.endedAt ??= Date.now()
    })
    const { delayMs: [least, most] = [0, 0], failShare = 0, repeatDelayMs } = behaviour
    const delayMs = repeated && repeatDelayMs !== undefined ? repeatDelayMs : least + Math.random() * (most - least)
    const status = Math.random() < failShare ? 500 : 200
    setTimeout(() => {
      if (response.destroyed) return // whoever asked is gone
      Object.assign(arrival, { status, endedAt: Date.now() }) // before the sender can know
      response.writeHead(status, { 'content-type': 'text/plain' }).end(String(arrival.number))
    }, delayMs)
  })
}

function signedAt(token: string): number {
  return 1_000 * JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString()).iat
}

process.on('message', (message: ToReceiver) => {
  const reply = (answer: FromReceiver) => process.send!(answer)
  if (message.kind === 'start') {
    const server = createServer({ cert: message.cert, key: message.key, keepAliveTimeout: 60_000 }, receive)
    server.listen(0, '127.0.0.1', () => reply({ kind: 'started', port: (server.address() as AddressInfo).port }))
  } else if (message.kind === 'behave') {
    behaviour = message.behaviour
    reply({ kind: 'behaves' })
  } else reply({ kind: 'arrivals', from: message.from, arrivals: arrivals.slice(message.from) })
})
process.on('disconnect', () => process.exit(0)) // the test is gone
