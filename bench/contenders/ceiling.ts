// Ceiling (a): one Node process that signs and posts, with no database behind it. Nobody who sends over TLS can be cheaper.
import { serveCommands } from '../lib/child.ts'
import { createDeliver, payloadOf } from '../lib/deliver.ts'

let wanted: { caFile: string; urls: string[]; events: number }

serveCommands({
  prepare(args: typeof wanted) {
    wanted = args
  },
  // Resolves when everything was sent.
  async start() {
    const deliver = createDeliver(wanted.caFile)
    let next = 0
    const worker = async () => {
      while (next < wanted.events) {
        const i = next++
        const id = `ceiling-${i}`
        await deliver({ id, url: wanted.urls[i % wanted.urls.length]!, body: payloadOf(id) })
      }
    }
    await Promise.all(Array.from({ length: 256 }, worker))
  },
  remaining: () => 0,
  stop() {},
})
