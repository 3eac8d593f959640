// The change feed: how caches in every process stay true. A writer records the subject it changed in its own transaction;
// each process asks for news a few times a second. What a cache holds may be used only while the feed is fresh, so a change
// holds everywhere within a second, and a process that cannot ask falls back to the database itself.
import type { Logger } from 'pino'
import type { Timestamp } from '../times.ts'
import type { Db, Tx } from './db.ts'

const pollEveryMs = 300
const freshForMs = 900
const keptFor = '10 minutes'
const pruneEveryMs = 5 * 60_000

export async function recordChange(tx: Tx, subject: string): Promise<void> {
  await tx.query(
    `with next as (update change_counter set version = version + 1 returning version)
     insert into changes (version, subject) select version, $1 from next`,
    [subject],
  )
}

export interface ChangeFeed {
  isFresh(): boolean
  // Grows with every change seen: a value read from the database while this grew may be old already and must not be kept.
  generation(): number
  onChange(listener: (subject: string | undefined) => void): void // undefined: anything may have changed
  refresh(): Promise<void> // after a write of one's own, so that this process sees it at once
  stop(): Promise<void>
}

interface Change {
  version: number
  subject: string
  createdAt: Timestamp
}

export async function startChangeFeed(db: Db, log: Logger): Promise<ChangeFeed> {
  const listeners: ((subject: string | undefined) => void)[] = []
  let last = await newestChange(db)
  let confirmedAt = Number.NEGATIVE_INFINITY
  let generation = 0
  let failing = false
  let running: Promise<void> | undefined
  let next: Promise<void> | undefined
  let stopped = false
  let timer: NodeJS.Timeout | undefined
  let lastPruneAt = performance.now()

  // Asks for the last change it knows as well. Is that one gone, then this process slept for longer than changes are kept, or the
  // database is not the one it was (restored, or a standby took over that had not heard everything): nothing remembered counts.
  const poll = async (): Promise<void> => {
    const startedAt = performance.now()
    const { rows } = await db.urgent.query<Change>(
      'select version, subject, created_at from changes where version >= $1 order by version',
      [last?.version ?? 0],
    )
    const known = last === undefined || (rows[0]?.version === last.version && rows[0].createdAt === last.createdAt)
    const news = known && last !== undefined ? rows.slice(1) : rows
    if (news.length > 0 || !known) {
      last = known ? rows.at(-1) : await newestChange(db)
      generation++
      const subjects = known ? new Set(news.map((row) => row.subject)) : [undefined]
      for (const subject of subjects) for (const listener of listeners) listener(subject)
    }
    confirmedAt = startedAt
    if (startedAt - lastPruneAt > pruneEveryMs) {
      lastPruneAt = startedAt
      await prune(db)
    }
  }

  const pollOnce = (): Promise<void> => {
    running = poll()
      .then(() => {
        if (failing) log.info('the database answers again')
        failing = false
      })
      .catch((error: Error) => {
        if (!failing && !stopped) log.warn({ error: error.message }, 'the change feed cannot reach the database')
        failing = true
      })
      .finally(() => {
        running = undefined
      })
    return running
  }

  // One poll at a time. Whoever needs what was just written shares one poll that begins after the running one.
  const pollNow = (): Promise<void> => {
    if (!running) return pollOnce()
    next ??= running.then(() => {
      next = undefined
      return pollOnce()
    })
    return next
  }

  const tick = async (): Promise<void> => {
    await pollNow()
    if (!stopped) timer = setTimeout(tick, pollEveryMs)
  }
  await tick()

  return {
    isFresh: () => performance.now() - confirmedAt < freshForMs,
    generation: () => generation,
    onChange: (listener) => void listeners.push(listener),
    refresh: pollNow,
    async stop() {
      stopped = true
      clearTimeout(timer)
      await (next ?? running)
    },
  }
}

async function newestChange(db: Db): Promise<Change | undefined> {
  const { rows } = await db.urgent.query<Change>(
    'select version, subject, created_at from changes order by version desc limit 1',
  )
  return rows[0]
}

// The newest one stays, for the others to recognise the database by.
async function prune(db: Db): Promise<void> {
  await db.query(
    `delete from changes where created_at < now() - interval '${keptFor}' and version < (select max(version) from changes)`,
  )
}

export interface Cache<V> {
  get(key: string): V | undefined | Promise<V | undefined>
}

const mostEntries = 20_000
const shareLoadForMs = 300 // callers join a load under way only while it is young, or its answer would be too old for them

// A cache over the feed. `load` also names the subject whose change makes the value stale; what does not exist is remembered
// too (so that made-up keys cost one query) and forgotten at any change.
export function createCache<V>(
  feed: ChangeFeed,
  load: (key: string) => Promise<{ subject: string; value: V } | undefined>,
): Cache<V> {
  const entries = new Map<string, { subject: string | undefined; value: V | undefined }>()
  const loading = new Map<string, { startedAt: number; result: Promise<V | undefined> }>()

  feed.onChange((subject) => {
    for (const [key, entry] of entries) {
      if (subject === undefined || entry.subject === undefined || entry.subject === subject) entries.delete(key)
    }
  })

  const loadAndKeep = async (key: string): Promise<V | undefined> => {
    const generation = feed.generation()
    const loaded = await load(key)
    if (feed.generation() === generation) {
      if (entries.size >= mostEntries) entries.delete(entries.keys().next().value!)
      entries.set(key, { subject: loaded?.subject, value: loaded?.value })
    }
    return loaded?.value
  }

  return {
    get(key) {
      if (feed.isFresh()) {
        const entry = entries.get(key)
        if (entry) return entry.value
      }
      const underWay = loading.get(key)
      if (underWay && performance.now() - underWay.startedAt < shareLoadForMs) return underWay.result
      const result = loadAndKeep(key).finally(() => {
        if (loading.get(key)?.result === result) loading.delete(key)
      })
      loading.set(key, { startedAt: performance.now(), result })
      return result
    },
  }
}
