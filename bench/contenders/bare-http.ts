// Ceiling (c): a bare node:http server. GET is answered with a ready buffer, POST once its JSON is parsed.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { serveCommands } from '../lib/child.ts'

serveCommands({
  async start({ body }: { body: string }) {
    const ready = Buffer.from(body)
    const headers = { 'content-type': 'application/json; charset=utf-8', 'content-length': ready.length }
    const server = createServer((request, response) => {
      if (request.method === 'GET') return void response.writeHead(200, headers).end(ready)
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        const { id } = JSON.parse(Buffer.concat(chunks).toString())
        const answer = JSON.stringify({ id, publication_id: id, event_ids: [] })
        response
          .writeHead(201, { 'content-type': 'application/json; charset=utf-8', 'content-length': answer.length })
          .end(answer)
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
  },
})
