// How a listener stops: every request that has begun is answered, its connection closed behind it; connections without a request
// are closed at once, also those that never sent a whole one. Whatever is not done after a while is cut off.
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'

const longestStopMs = 25_000 // less than the 30 s that orchestrators usually grant before they kill

export function drainOnClose(app: FastifyInstance): void {
  const underWay = new Map<Socket, number>() // requests on each open connection
  let closing = false

  app.server.on('connection', (socket) => {
    underWay.set(socket, 0)
    socket.once('close', () => underWay.delete(socket))
  })
  app.server.on('request', ({ socket }, response) => {
    underWay.set(socket, (underWay.get(socket) ?? 0) + 1)
    response.once('close', () => {
      const left = (underWay.get(socket) ?? 1) - 1
      if (underWay.has(socket)) underWay.set(socket, left)
      if (closing && left === 0) socket.destroySoon()
    })
  })
  app.addHook('onSend', (_request, reply, payload, done) => {
    if (closing) reply.header('connection', 'close')
    done(null, payload)
  })
  app.addHook('preClose', async () => {
    closing = true
    for (const [socket, requests] of underWay) if (requests === 0) socket.destroy()
    setTimeout(() => app.server.closeAllConnections(), longestStopMs).unref()
  })
}
