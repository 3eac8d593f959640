// A TCP proxy in front of PostgreSQL that reads along, message by message, and cuts a connection exactly at a COMMIT: before the
// server gets it (it never happens), or once the server has answered it (it happened, and nobody is told).
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'

export type Moment = 'before' | 'after'

export interface TcpProxy {
  url(database: string): string
  // Resolves once the next COMMIT of a transaction that ran a statement containing `text` was cut.
  cutCommit(text: string, moment: Moment): Promise<void>
  freezeCommit(text: string): Promise<void> // swallows it and stays silent, with the connection open: a partition
  cutAll(): number // every connection, at once; how many there were
}

interface Trap {
  readonly text: string
  readonly moment: Moment | 'freeze'
  readonly sprung: () => void
}

export async function startTcpProxy(t: { after(work: () => void): void }, serverPort: number): Promise<TcpProxy> {
  const open = new Set<() => void>()
  const traps: Trap[] = []

  const server = createServer({ noDelay: true }, (client) => {
    const upstream = connect({ port: serverPort, host: '127.0.0.1', noDelay: true })
    let statements = ''
    let trap: Trap | undefined
    const cut = () => {
      open.delete(cut)
      client.resetAndDestroy()
      upstream.destroy()
    }
    open.add(cut)
    const messages = createSplitter()
    client.on('data', (chunk: Buffer) => {
      if (trap?.moment === 'freeze') return
      for (const { type, bytes } of messages(chunk)) {
        const text = type === 'Q' || type === 'P' ? bytes.toString('latin1', 5) : ''
        if (/^begin/i.test(text)) statements = ''
        statements += text
        const found = /^commit/i.test(text) ? traps.findIndex((each) => statements.includes(each.text)) : -1
        if (found >= 0) {
          trap = traps.splice(found, 1)[0]!
          if (trap.moment !== 'after') {
            if (trap.moment === 'before') cut()
            trap.sprung()
            return
          }
        }
        upstream.write(bytes)
      }
    })
    upstream.on('data', (chunk: Buffer) => {
      if (!trap) return void client.write(chunk)
      if (trap.moment !== 'after') return
      cut() // this was the answer to the COMMIT
      trap.sprung()
    })
    for (const socket of [client, upstream]) {
      socket.on('error', () => {}) // 'close' follows
      socket.on('close', () => trap?.moment !== 'freeze' && cut())
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const cutAll = () => {
    const cuts = [...open]
    for (const cut of cuts) cut()
    return cuts.length
  }
  t.after(() => {
    server.close()
    cutAll()
  })
  const set = (text: string, moment: Trap['moment']) =>
    new Promise<void>((sprung) => void traps.push({ text, moment, sprung }))
  return {
    url: (database) => `postgres://postgres@127.0.0.1:${port}/${database}`,
    cutCommit: set,
    freezeCommit: (text) => set(text, 'freeze'),
    cutAll,
  }
}

// PostgreSQL's protocol: a start-up message (length, …), then messages of (type, length, …). The length counts itself.
function createSplitter(): (chunk: Buffer) => { type: string; bytes: Buffer }[] {
  let rest: Buffer = Buffer.alloc(0)
  let started = false
  return (chunk) => {
    rest = Buffer.concat([rest, chunk])
    const found: { type: string; bytes: Buffer }[] = []
    for (;;) {
      const head = started ? 1 : 0
      if (rest.length < head + 4) return found
      const length = head + rest.readInt32BE(head)
      if (rest.length < length) return found
      found.push({ type: started ? String.fromCharCode(rest[0]!) : '', bytes: rest.subarray(0, length) })
      rest = rest.subarray(length)
      started = true
    }
  }
}
