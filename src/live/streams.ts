// Open streams of server-sent events. Promises: whoever follows is told of every change, or told to look again (`reset`); a stream
// ends within two seconds of its caller's right to it; one that does not read is dropped; no one caller can hold many.
import { PassThrough, type Readable } from 'node:stream'
import type { Logger } from 'pino'
import type { Db } from '../db/db.ts'
import { fail } from '../errors.ts'
import { type Entry, type EntryFeed, openEntryFeed, pruneEntries } from './entries.ts'
import type { Watching } from './watching.ts'

const pollEveryMs = 150
const checkEveryMs = 500
const heartbeatEveryMs = 15_000
const pruneEveryMs = 30_000
const missedAfterMs = 60_000 // without a successful read: entries may be gone by then
const mostForEachKey = 10
const mostAtOnce = 500
const mostUnreadBytes = 1024 * 1024

export interface Message {
  readonly event: string
  readonly data: unknown
  readonly needs?: string // a scope, beyond what the stream itself takes
}

export interface Follower {
  readonly partnerId: string
  readonly keyId: string
  readonly scopes: readonly string[]
  stillHolds(): Promise<boolean>
}

export interface Streams {
  open(follower: Follower): Promise<Readable>
  stop(): void // ends all of them
}

interface Stream extends Follower {
  readonly body: PassThrough
  checking: boolean
}

export interface StreamsOptions {
  readonly db: Db
  readonly log: Logger
  readonly watching: Watching
  readonly describe: (partnerId: string, entries: readonly Entry[]) => Promise<Message[]>
}

export function createStreams({ db, log, watching, describe }: StreamsOptions): Streams {
  const streams = new Set<Stream>()
  let feed: Promise<EntryFeed> | undefined
  let polling = false
  let readAtMs = 0
  let prunedAtMs = performance.now()
  let stopped = false

  const send = (stream: Stream, text: string) => {
    if (stream.body.writableLength > mostUnreadBytes) stream.body.destroy()
    else if (stream.body.writable) stream.body.write(text)
  }
  const sendAll = (partnerId: string | undefined, messages: readonly Message[]) => {
    const texts = messages.map((message) => ({ message, text: textOf(message) }))
    for (const stream of streams) {
      if (partnerId !== undefined && stream.partnerId !== partnerId) continue
      const mine = texts.filter(({ message: { needs } }) => needs === undefined || stream.scopes.includes(needs))
      if (mine.length > 0) send(stream, mine.map(({ text }) => text).join(''))
    }
  }
  const pass = async (entries: readonly Entry[]) => {
    for (const [partnerId, mine] of Map.groupBy(entries, (entry) => entry.partnerId)) {
      const tooMuch = mine.reduce((sum, entry) => sum + entry.ids.length, 0) > mostAtOnce
      const told = tooMuch || mine.some((entry) => entry.kind === 'reset') ? [reset] : await describe(partnerId, mine)
      sendAll(partnerId, told)
    }
  }
  const poll = async () => {
    if (polling || streams.size === 0 || !feed) return
    polling = true
    try {
      const entries = await (await feed).read([...new Set([...streams].map((stream) => stream.partnerId))])
      const missed = performance.now() - readAtMs > missedAfterMs
      readAtMs = performance.now()
      // What was read and could not be passed on does not come again.
      if (missed) sendAll(undefined, [reset])
      else
        await pass(entries).catch((error) => {
          sendAll(undefined, [reset])
          throw error
        })
      if (readAtMs - prunedAtMs > pruneEveryMs) {
        prunedAtMs = readAtMs
        await pruneEntries(db)
      }
    } catch (error) {
      log.debug({ error: (error as Error).message }, 'streams could not be fed')
    } finally {
      polling = false
    }
  }
  const openFeed = () => {
    const opening = openEntryFeed(db)
    opening.catch(() => {
      if (feed === opening) feed = undefined
    })
    return opening
  }
  // A right that cannot be confirmed is none.
  const check = () => {
    for (const stream of streams) {
      if (stream.checking) continue
      stream.checking = true
      stream
        .stillHolds()
        .catch(() => false)
        .then((holds) => {
          stream.checking = false
          if (!holds) stream.body.end()
        })
    }
  }
  const beat = () => {
    for (const stream of streams) send(stream, ': still here\n\n')
  }
  const timers = [setInterval(poll, pollEveryMs), setInterval(check, checkEveryMs), setInterval(beat, heartbeatEveryMs)]
  for (const timer of timers) timer.unref()

  return {
    async open(follower) {
      if (stopped) throw fail('service_unavailable', 'The service is stopping.', { 'retry-after': '1' })
      if ([...streams].filter((stream) => stream.keyId === follower.keyId).length >= mostForEachKey)
        throw fail('too_many_requests', `An API key can have ${mostForEachKey} streams open.`, { 'retry-after': '5' })
      const stream: Stream = { ...follower, body: new PassThrough(), checking: false }
      // Before anything is announced: what follows is read from here on.
      if (streams.size === 0) {
        feed = undefined
        readAtMs = performance.now()
      }
      streams.add(stream)
      stream.body.once('close', () => streams.delete(stream))
      try {
        feed ??= openFeed()
        await feed
        const { knownAtMs, leave } = await watching.watch(follower.partnerId)
        stream.body.once('close', leave)
        send(stream, ': connected\n\n')
        const waitMs = Math.max(0, knownAtMs - performance.now())
        setTimeout(() => send(stream, textOf(reset)), waitMs).unref()
      } catch (error) {
        stream.body.destroy()
        throw error
      }
      return stream.body
    },
    stop() {
      stopped = true
      for (const timer of timers) clearInterval(timer)
      for (const stream of streams) stream.body.end()
    },
  }
}

const reset: Message = { event: 'reset', data: {} }

function textOf({ event, data }: Message): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`
}
