// A TCP proxy in front of PostgreSQL that reads along, message by message, and strikes at an exact one: it cuts a connection at a
// COMMIT, before the server gets it (it never happens) or once the server has answered (it happened, and nobody is told); or it
// holds an answer back.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'

const deadlineMs = 60_000

export type Moment = 'before' | 'after'

export interface TcpProxy {
  url(database: string): string
  // Resolves once the next COMMIT of a transaction with a statement, or a value, that contains `text` was cut.
  cutCommit(text: string, moment: Moment): Promise<void>
  // Swallows that COMMIT and stays silent, with the connection open, as a network does that has lost its other end.
  loseCommit(text: string): Promise<void>
  // Resolves once the server has answered a statement containing `text`; the answer passes when the function is called.
  holdAnswer(text: string): Promise<() => void>
  cutAll(): number // every connection, at once; how many there were
}

interface Trap {
  readonly text: string
  readonly kind: Moment | 'lost' | 'held'
  readonly sprung: (release: () => void) => void
}

export async function startTcpProxy(t: { after(work: () => void): void }, serverUrl: string): Promise<TcpProxy> {
  const { hostname, port: serverPort } = new URL(serverUrl)
  const open = new Set<() => void>()
  const traps: Trap[] = []
  const take = (isSprung: (trap: Trap) => boolean) => {
    const found = traps.findIndex(isSprung)
    return found < 0 ? undefined : traps.splice(found, 1)[0]
  }

  const server = createServer({ noDelay: true }, (client) => {
    const upstream = connect({ port: Number(serverPort), host: hostname, noDelay: true })
    let statements = '' // of the transaction under way
    let trap: Trap | undefined
    let held: Buffer[] | undefined
    const cut = () => {
      open.delete(cut)
      client.resetAndDestroy()
      upstream.destroy()
    }
    open.add(cut)
    const hold = ({ sprung }: Trap) => {
      if (held) return
      held = []
      sprung(() => {
        for (const each of held ?? []) client.write(each)
        held = undefined
        trap = undefined
      })
    }
    const messages = createSplitter()
    client.on('data', (chunk: Buffer) => {
      for (const { type, bytes } of messages(chunk)) {
        const text = 'QPB'.includes(type) ? bytes.toString('latin1', 5) : '' // statements and their values
        if (/^begin/i.test(text)) statements = ''
        statements += text
        const isCommit = /^commit/i.test(text)
        trap ??= take((each) =>
          each.kind === 'held' ? text.includes(each.text) : isCommit && statements.includes(each.text),
        )
        if (trap?.kind === 'before') cut()
        if (trap?.kind === 'before' || trap?.kind === 'lost') return trap.sprung(() => {})
        upstream.write(bytes)
      }
    })
    upstream.on('data', (chunk: Buffer) => {
      if (trap?.kind === 'after') {
        cut() // this was the answer to the COMMIT
        trap.sprung(() => {})
      } else if (trap?.kind !== 'lost') {
        if (trap?.kind === 'held') hold(trap)
        if (held) held.push(chunk)
        else client.write(chunk)
      }
    })
    for (const socket of [client, upstream]) {
      socket.on('error', () => {}) // 'close' follows
      socket.on('close', () => trap?.kind !== 'lost' && cut())
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const cutAll = () => {
    const cuts = [...open]
    for (const each of cuts) each()
    return cuts.length
  }
  t.after(() => {
    server.close()
    cutAll()
  })
  const set = (text: string, kind: Trap['kind']) =>
    new Promise<() => void>((sprung, reject) => {
      traps.push({ text, kind, sprung })
      setTimeout(() => reject(new Error(`waited in vain for a statement with ${text}`)), deadlineMs).unref()
    })
  return {
    url: (database) => `postgres://postgres@127.0.0.1:${port}/${database}`,
    cutCommit: async (text, moment) => void (await set(text, moment)),
    loseCommit: async (text) => void (await set(text, 'lost')),
    holdAnswer: (text) => set(text, 'held'),
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
      found.push({ type: started ? String.fromCharCode(rest[0]!) : 'start-up', bytes: rest.subarray(0, length) })
      rest = rest.subarray(length)
      started = true
    }
  }
}
