// The platform's publications, idempotent by the publisher's own id and answered only once durable. Concurrent publications
// share commits (group commit): nobody is answered before its own commit, and one caller's failure never fails another's.
import { hash } from 'node:crypto'
import type { Context } from '../context.ts'
import { DatabaseUnavailable, type Tx } from '../db/db.ts'
import { fail } from '../errors.ts'
import { withoutSpace } from '../http/json-text.ts'
import { tellEvents } from '../live/entries.ts'
import { actions } from './catalogue.ts'
import { eventValues, insertEventsSql, type Planned, type Publication, plan } from './publishing.ts'
import type { Waker } from './signals.ts'

const mostInOneCommit = 500
const commitsAtOnce = 2
const labels = Object.fromEntries(actions.map((action) => [action, { action }]))

export interface Submission extends Publication {
  readonly id: string // the publisher's own
  readonly text: Buffer
}

export interface Published {
  readonly id: string
  readonly publication_id: string
  readonly event_ids: readonly string[]
}

export interface Publisher {
  publish(submission: Submission): Promise<Published>
  publishAll(submissions: readonly Submission[]): Promise<Published[]> // all or none
}

type Outcome = { published: Published } | { error: Error }

interface Waiting {
  readonly submission: Submission
  readonly settle: (outcome: Outcome) => void
}

export function createPublisher(ctx: Context, waker: Waker): Publisher {
  let waiting: Waiting[] = []
  let committing = 0
  const published = ctx.metrics.counter('webhook_publications_total', 'Publications accepted, repeats included.')

  const commit = async (batch: readonly Waiting[]): Promise<void> => {
    try {
      const submissions = batch.map((each) => each.submission)
      const outcomes = await ctx.db.transaction((tx) => record(tx, submissions))
      for (const [i, each] of batch.entries()) each.settle(outcomes[i]!)
      wakeFor(outcomes)
    } catch (error) {
      // Away or unknown: each caller is told so. Anything else may be one submission's fault: find out whose.
      if (error instanceof DatabaseUnavailable || batch.length === 1) {
        for (const each of batch) each.settle({ error: error as Error })
      } else {
        for (const each of batch) await commit([each])
      }
    }
  }
  const wakeFor = (outcomes: readonly Outcome[]) => {
    if (outcomes.some((outcome) => 'published' in outcome && outcome.published.event_ids.length > 0)) waker.wake()
  }
  const pump = () => {
    while (committing < commitsAtOnce && waiting.length > 0) {
      const { batch, rest } = takeDistinct(waiting)
      waiting = rest
      committing++
      void commit(batch).finally(() => {
        committing--
        pump()
      })
    }
  }

  return {
    publish(submission) {
      return new Promise((resolve, reject) => {
        const settle = (outcome: Outcome) => {
          if ('error' in outcome) return reject(outcome.error)
          published.add(labels[submission.action])
          resolve(outcome.published)
        }
        waiting.push({ submission, settle })
        // One turn later, so that requests that arrived together are committed together.
        if (waiting.length === 1) setImmediate(pump)
        else if (waiting.length >= mostInOneCommit) pump()
      })
    },
    async publishAll(submissions) {
      refuseRepeats(submissions)
      const outcomes = await ctx.db.transaction(async (tx) => {
        const all = await record(tx, submissions)
        for (const [i, outcome] of all.entries()) {
          if ('error' in outcome) throw nameItem(outcome.error, i)
        }
        return all as { published: Published }[]
      })
      wakeFor(outcomes)
      for (const { action } of submissions) published.add(labels[action])
      return outcomes.map((outcome) => outcome.published)
    },
  }
}

// A batch holds each id once: the repeat of one waits for the next commit, where it finds the first.
function takeDistinct(waiting: readonly Waiting[]): { batch: Waiting[]; rest: Waiting[] } {
  const seen = new Set<string>()
  const batch: Waiting[] = []
  const rest: Waiting[] = []
  for (const each of waiting) {
    const key = keyOf(each.submission)
    if (batch.length < mostInOneCommit && !seen.has(key)) {
      seen.add(key)
      batch.push(each)
    } else rest.push(each)
  }
  return { batch, rest }
}

function refuseRepeats(submissions: readonly Submission[]): void {
  const seen = new Set<string>()
  for (const [i, submission] of submissions.entries()) {
    if (seen.has(keyOf(submission)))
      throw fail('invalid_parameters', `events[${i}].id repeats the id of another event in this request.`)
    seen.add(keyOf(submission))
  }
}

interface KnownPublication {
  partnerId: string
  id: string
  publicationId: string
  contentHash: Uint8Array
  eventIds: string[]
}

async function record(tx: Tx, submissions: readonly Submission[]): Promise<Outcome[]> {
  const planned = await plan(tx, submissions)
  const items = submissions.flatMap((submission, i): Item[] => {
    const mine = planned[i]
    return mine ? [{ key: keyOf(submission), submission, planned: mine, hash: contentHash(submission) }] : []
  })
  // In one order everywhere, so that two commits that share ids wait for each other instead of deadlocking.
  items.sort((a, b) => (a.key < b.key ? -1 : 1))
  const fresh = items.length > 0 ? await insertPublications(tx, items) : new Set<string>()
  const known = await findPublications(
    tx,
    items.filter(({ planned }) => !fresh.has(planned.publicationId)).map(({ submission }) => submission),
  )
  await tellEvents(
    tx,
    items.filter(({ planned }) => fresh.has(planned.publicationId)).flatMap(({ planned }) => planned.events),
  )
  const outcomes = new Map(items.map((item) => [item.submission, outcomeOf(item, fresh, known)]))
  return submissions.map(
    (submission) => outcomes.get(submission) ?? { error: fail('not_found', 'partner_id names no partner.') },
  )
}

interface Item {
  readonly key: string
  readonly submission: Submission
  readonly planned: Planned
  readonly hash: Buffer
}

function outcomeOf(
  { key, submission, planned, hash }: Item,
  fresh: ReadonlySet<string>,
  known: ReadonlyMap<string, KnownPublication>,
): Outcome {
  if (fresh.has(planned.publicationId)) return { published: toPublished(submission.id, planned) }
  const before = known.get(key)
  if (!before || Buffer.compare(before.contentHash, hash) !== 0) {
    return { error: fail('conflict', 'id was used for an event with other content.') }
  }
  return { published: { id: submission.id, publication_id: before.publicationId, event_ids: before.eventIds } }
}

// The publications that are new, their events, and the signal to their lanes.
const insertSql = `
  with fresh as (
    insert into publications (partner_id, id, publication_id, content_hash, event_ids)
    select partner_id, id, publication_id, content_hash, string_to_array(event_ids, ' ')
    from unnest($1::text[], $2::text[], $3::text[], $4::bytea[], $5::text[]) as new (partner_id, id, publication_id, content_hash, event_ids)
    on conflict (partner_id, id) do nothing returning publication_id),
  made as (
    ${insertEventsSql(6)}
    where new.publication_id in (select publication_id from fresh) returning subscription_id, state, due_at),
  told as (
    insert into signals (subscription_ids, queue, due_at)
    select array_agg(distinct subscription_id), 'f', min(due_at) from made where state = 'pending' having count(*) > 0)
  select publication_id from fresh`

// Ids of those that are new.
async function insertPublications(tx: Tx, items: readonly Item[]): Promise<Set<string>> {
  const { rows } = await tx.query<{ publicationId: string }>(insertSql, [
    items.map(({ submission }) => submission.partnerId),
    items.map(({ submission }) => submission.id),
    items.map(({ planned }) => planned.publicationId),
    items.map(({ hash }) => hash),
    items.map(({ planned }) => planned.events.map((event) => event.id).join(' ')),
    ...eventValues(items.flatMap((item) => item.planned.events)),
  ])
  return new Set(rows.map((row) => row.publicationId))
}

async function findPublications(tx: Tx, submissions: readonly Submission[]): Promise<Map<string, KnownPublication>> {
  if (submissions.length === 0) return new Map()
  const { rows } = await tx.query<KnownPublication>(
    `select p.* from unnest($1::text[], $2::text[]) as asked (partner_id, id)
     join publications p on p.partner_id = asked.partner_id and p.id = asked.id`,
    [submissions.map((each) => each.partnerId), submissions.map((each) => each.id)],
  )
  return new Map(rows.map((row) => [keyOf(row), row]))
}

function toPublished(id: string, { publicationId, events }: Planned): Published {
  return { id, publication_id: publicationId, event_ids: events.map((event) => event.id) }
}

function keyOf({ partnerId, id }: { partnerId: string; id: string }): string {
  return `${partnerId} ${id}`
}

function contentHash({ action, text }: Submission): Buffer {
  return hash('sha256', Buffer.concat([Buffer.from(action), withoutSpace(text)]), 'buffer')
}

function nameItem(error: Error, index: number): Error {
  error.message = `events[${index}].${error.message}`
  return error
}
