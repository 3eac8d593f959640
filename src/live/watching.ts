// Who is being followed live. Processes announce whose streams they hold through the change feed, so that every writer knows within
// a second, and writes entries only for partners that somebody watches. While nobody does, nothing costs anything.
import type { Logger } from 'pino'
import { type ChangeFeed, recordChange } from '../db/changes.ts'
import type { Db } from '../db/db.ts'
import { newId } from '../ids.ts'
import { tellReset } from './entries.ts'

const subject = 'watching' // of the change feed
const lastsFor = '60 seconds' // an announcement that is not renewed
const renewEveryMs = 20_000
const lateAfterMs = 1_000
const everyoneKnowsAfterMs = { postgres: 1_500, embedded: 100 }

export interface Watching {
  anyone(): boolean
  isWatched(partnerId: string): boolean
  // From `knownAtMs` (performance.now) on, whatever is committed anywhere leaves an entry.
  watch(partnerId: string): Promise<{ knownAtMs: number; leave: () => void }>
  stop(): Promise<void>
}

export async function startWatching(db: Db, feed: ChangeFeed, log: Logger): Promise<Watching> {
  const processId = newId('prc')
  let watched = new Set<string>()
  const mine = new Map<string, { streams: number; knownAtMs: number }>()
  let loading: Promise<void> = Promise.resolve()

  // Whoever hears of a partner late has written nothing for it in the meantime: those who watch are told to look again.
  const load = async (isFirst: boolean) => {
    const { rows } = await db.query<{ partnerId: string; ageMs: number }>(
      `select partner_id, extract(epoch from now() - min(since))::float8 * 1000 as age_ms
       from stream_watchers where until > now() group by partner_id`,
    )
    const before = watched
    watched = new Set([...rows.map((row) => row.partnerId), ...mine.keys()])
    const late = rows.filter((row) => !isFirst && row.ageMs > lateAfterMs && !before.has(row.partnerId))
    if (late.length === 0) return
    await telling.transaction(async (tx) => {
      for (const { partnerId } of late) await tellReset(tx, partnerId)
    })
  }
  const loadSoon = () => {
    loading = loading
      .then(() => load(false))
      .catch((error: Error) => log.warn({ error: error.message }, 'could not read who is watched'))
    return loading
  }
  const renew = async () => {
    if (mine.size > 0) {
      const { count } = await db.query(
        `update stream_watchers set until = now() + interval '${lastsFor}' where process_id = $1 and partner_id = any($2)`,
        [processId, [...mine.keys()]],
      )
      if (count < mine.size && db.kind === 'postgres') for (const partnerId of mine.keys()) await announce(partnerId)
    }
    if (watched.size > 0) await loadSoon()
    await db.query(`delete from stream_watchers where until < now() - interval '${lastsFor}'`)
  }
  const announce = (partnerId: string) =>
    db.transaction(async (tx) => {
      await tx.query(
        `insert into stream_watchers as w (partner_id, process_id, until) values ($1, $2, now() + interval '${lastsFor}')
         on conflict (partner_id, process_id) do update set until = excluded.until,
           since = case when w.until > now() then w.since else now() end`,
        [partnerId, processId],
      )
      await recordChange(tx, subject)
    })

  const watching: Watching = {
    anyone: () => watched.size > 0,
    isWatched: (partnerId) => watched.has(partnerId),
    async watch(partnerId) {
      let entry = mine.get(partnerId)
      if (!entry) {
        entry = { streams: 0, knownAtMs: Number.POSITIVE_INFINITY }
        mine.set(partnerId, entry)
        watched.add(partnerId)
      }
      entry.streams++
      const leave = () => {
        if (--entry.streams === 0) mine.delete(partnerId)
      }
      try {
        // An announcement under way may still fail: each makes sure for itself.
        if (entry.knownAtMs === Number.POSITIVE_INFINITY) {
          if (db.kind === 'postgres') await announce(partnerId)
          entry.knownAtMs = Math.min(entry.knownAtMs, performance.now() + everyoneKnowsAfterMs[db.kind])
        }
      } catch (error) {
        leave()
        throw error
      }
      return { knownAtMs: entry.knownAtMs, leave }
    },
    async stop() {
      clearInterval(timer)
      await loading
    },
  }
  const telling = tellingWatchers(db, watching)
  await load(true)
  feed.onChange((changed) => {
    if (changed === undefined || changed === subject) void loadSoon()
  })
  const timer = setInterval(() => {
    if (watched.size > 0 || mine.size > 0) renew().catch(() => {}) // said by the change feed already
  }, renewEveryMs)
  timer.unref()
  return watching
}

// The same database, whose transactions know who is watched.
export function tellingWatchers(db: Db, watching: Pick<Watching, 'anyone' | 'isWatched'>): Db {
  return {
    ...db,
    transaction: (work) =>
      db.transaction((tx) => work(watching.anyone() ? { ...tx, isWatched: watching.isWatched } : tx)),
  }
}
