// The change feed: how caches in every process stay true. A writer records the subject it changed in its own transaction;
// each process asks for news a few times a second. What a cache holds may be used only while the feed is fresh, so a change
// holds everywhere within a second, and a process that cannot ask falls back to the database itself.
import type { Logger } from 'pino'
import type { Db, Tx } from './db.ts'

const pollEveryMs = 300
const freshForMs = 900
const keptFor = '10 minutes' // a process that was silent for longer empties its caches instead of catching up
const forgetAfterMs = 5 * 60_000

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

export async function startChangeFeed(db: Db, log: Logger): Promise<ChangeFeed> {
  const listeners: ((subject: string | undefined) => void)[] = []
  let version = await currentVersion(db)
  let confirmedAt = Number.NEGATIVE_INFINITY
  let generation = 0
  let failing = false
  let running: Promise<void> | undefined
  let stopped = false
  let timer: NodeJS.Timeout | undefined
  let lastPruneAt = performance.now()

  const poll = async (): Promise<void> => {
    const startedAt = performance.now()
    const { rows } = await db.query<{ version: number; subject: string }>(
      'select version, subject from changes where version > $1 order by version',
      [version],
    )
    const lost = confirmedAt !== Number.NEGATIVE_INFINITY && startedAt - confirmedAt > forgetAfterMs
    if (rows.length > 0 || lost) {
      generation++
      version = rows.at(-1)?.version ?? version
      const subjects = lost ? [undefined] : new Set(rows.map((row) => row.subject))
      for (const subject of subjects) for (const listener of listeners) listener(subject)
    }
    confirmedAt = startedAt
    if (startedAt - lastPruneAt > forgetAfterMs) {
      lastPruneAt = startedAt
      await db.query(`delete from changes where created_at < now() - interval '${keptFor}'`)
    }
  }

  // One poll at a time; a caller that needs what it just wrote waits for the running one and then for its own.
  const pollNow = async (): Promise<void> => {
    while (running) await running
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
    await running
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
      await running
    },
  }
}

async function currentVersion(db: Db): Promise<number> {
  const { rows } = await db.query<{ version: number }>('select version from change_counter')
  return rows[0]!.version
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
