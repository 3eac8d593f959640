// The receiver: a TLS server in a process of its own, one port (and so one origin) for each endpoint. Answers at once, after a
// while, or never, as told; remembers when each event arrived and how often.
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { serveCommands } from './lib/child.ts'

interface Behaviour {
  readonly delayMs: number
  readonly slowShare: number // of the answers that take `slowMs`
  readonly slowMs: number
  readonly hanging: readonly number[] // endpoints that never answer
}

let behaviour: Behaviour = { delayMs: 0, slowShare: 0, slowMs: 0, hanging: [] }
let hanging = new Set<number>()
let arrivals = new Map<string, number>()
let total = 0
let connections = 0
let lastAt = 0
const servers: Server[] = []

serveCommands({
  async listen({ cert, key, count }: { cert: string; key: string; count: number }): Promise<number[]> {
    while (servers.length < count) servers.push(await open(cert, key, servers.length))
    return servers.slice(0, count).map((server) => (server.address() as AddressInfo).port)
  },
  behave(wanted: Partial<Behaviour>) {
    behaviour = { delayMs: 0, slowShare: 0, slowMs: 0, hanging: [], ...wanted }
    hanging = new Set(behaviour.hanging)
    for (const server of servers) server.closeAllConnections()
  },
  reset() {
    arrivals = new Map()
    total = 0
    connections = 0
  },
  seen: () => ({ distinct: arrivals.size, total, lastAt, connections }),
  arrivals: () => arrivals,
})

async function open(cert: string, key: string, index: number): Promise<Server> {
  const server = createServer({ cert, key, keepAlive: true, keepAliveTimeout: 60_000 }, (request, response) => {
    request.on('data', () => {})
    request.on('end', () => {
      if (hanging.has(index)) return
      lastAt = performance.timeOrigin + performance.now()
      const id = request.headers['x-event-id'] as string
      if (!arrivals.has(id)) arrivals.set(id, lastAt)
      total++
      const slow = behaviour.slowShare > 0 && Math.random() < behaviour.slowShare
      const waitMs = slow ? behaviour.slowMs : behaviour.delayMs
      const answer = () => response.writeHead(200, { 'content-length': 0 }).end()
      if (waitMs > 0) setTimeout(answer, waitMs)
      else answer()
    })
  })
  server.on('secureConnection', () => connections++)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', 4_096, resolve))
  return server
}
