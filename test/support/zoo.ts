// Hostile endpoints: raw servers on loopback, with TLS or without, that see requests as bytes and answer with whatever bytes,
// pauses and endings the test wants. Also a small CONNECT proxy.
import { createServer as createHttpServer } from 'node:http'
import net, { type AddressInfo, type Socket } from 'node:net'
import tls, { type TLSSocket } from 'node:tls'
import type { Certificate } from './certificates.ts'
import { testAuthority } from './endpoint.ts'

interface Stoppable {
  after(work: () => Promise<void> | void): void
}

export interface Creature {
  readonly port: number
  readonly requests: () => number // complete ones, over all connections
  readonly connections: () => number // ever made
  readonly open: () => number // connections that are open now
}

export interface Behaviour {
  // A complete request arrived: the nth on this connection, counted from one.
  readonly onRequest?: (socket: Socket, nth: number) => void
  readonly onConnection?: (socket: Socket) => void // before TLS
  readonly tls?: Certificate | false // false: bytes are taken as they come
}

export async function startCreature(t: Stoppable, behaviour: Behaviour): Promise<Creature> {
  const certificate = behaviour.tls ?? (await (await testAuthority()).issue(['localhost', '127.0.0.1', ...testNames]))
  const sockets = new Set<Socket>()
  let requests = 0
  let connections = 0
  const serve = (socket: Socket) => {
    socket.on('error', () => {})
    onRequests(socket, (nth) => {
      requests++
      behaviour.onRequest?.(socket, nth)
    })
  }
  const server = certificate
    ? tls.createServer({ ...certificate, handshakeTimeout: 600_000 }, (socket: TLSSocket) => serve(socket))
    : net.createServer({ allowHalfOpen: true }, (socket) => serve(socket))
  server.on('tlsClientError', () => {})
  server.on('connection', (socket: Socket) => {
    connections++
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => sockets.delete(socket))
    behaviour.onConnection?.(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise<void>((resolve) => server.close(() => resolve()))
  })
  return {
    port: (server.address() as AddressInfo).port,
    requests: () => requests,
    connections: () => connections,
    open: () => sockets.size,
  }
}

// Names that tests resolve as they like; every creature has a certificate for them.
export const testNames = ['rebinding.test', 'mixed.test', 'silent.test', 'empty.test', 'missing.test', 'proxied.test']

function onRequests(socket: Socket, onRequest: (nth: number) => void): void {
  let nth = 0
  let bytes = Buffer.alloc(0)
  socket.on('data', (chunk: Buffer) => {
    bytes = Buffer.concat([bytes, chunk])
    for (;;) {
      const end = bytes.indexOf('\r\n\r\n')
      if (end < 0) return
      const length = Number(/content-length: (\d+)/i.exec(bytes.subarray(0, end).toString('latin1'))?.[1] ?? 0)
      if (bytes.length < end + 4 + length) return
      bytes = bytes.subarray(end + 4 + length)
      onRequest(++nth)
    }
  })
}

// Writes the text a byte at a time until it is all written or the connection is gone.
export function drip(socket: Socket, text: string, everyMs: number): void {
  let at = 0
  const timer = setInterval(() => {
    if (socket.destroyed || at >= text.length) return clearInterval(timer)
    socket.write(text[at++]!)
  }, everyMs)
  timer.unref()
}

// Writes the chunk again and again, as fast as the other side reads.
export function flood(socket: Socket, chunk: Buffer): void {
  const more = () => {
    while (!socket.destroyed && socket.write(chunk));
  }
  socket.on('drain', more)
  more()
}

export interface Proxy {
  readonly url: string
  readonly asked: string[] // targets of CONNECT
  readonly logins: (string | undefined)[]
}

// `decide` says where a target's bytes go (a port on loopback), or with which status the proxy refuses; undefined: no answer.
export async function startProxy(
  t: Stoppable,
  decide: (target: string) => { port: number } | { refuse: number } | undefined,
): Promise<Proxy> {
  const asked: string[] = []
  const logins: (string | undefined)[] = []
  const sockets = new Set<Socket>()
  const server = createHttpServer()
  server.on('connect', (request, socket: Socket) => {
    asked.push(request.url ?? '')
    logins.push(request.headers['proxy-authorization'])
    sockets.add(socket)
    socket.on('error', () => {})
    const decision = decide(request.url ?? '')
    if (!decision) return
    if ('refuse' in decision) return void socket.end(`HTTP/1.1 ${decision.refuse} No\r\n\r\n`)
    const onward = net.connect(decision.port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      onward.pipe(socket).pipe(onward)
    })
    sockets.add(onward)
    onward.on('error', () => socket.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise<void>((resolve) => server.close(() => resolve()))
  })
  return { url: `http://mole:hill@127.0.0.1:${(server.address() as AddressInfo).port}`, asked, logins }
}
