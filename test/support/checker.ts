// The checker of crash tests: holds what publishers were told, what the endpoint received and what the database says against
// each other. Nothing told is missing, nothing arrives that was not accepted, and what was sent twice was in flight at a fault.
import assert from 'node:assert/strict'
import pg from 'pg'
import { eventually } from './endpoint.ts'
import type { Arrival, Receiver } from './receiver.ts'

// Something that was done to the service, from before the signal until after it had worked.
export interface Fault {
  readonly from: number
  readonly until: number
  hits?(arrival: Arrival): boolean // whether it was done to the sender of this one; by default to all
}

export interface Story {
  readonly databaseUrl: string
  readonly receiver: Receiver
  readonly told: ReadonlyMap<string, readonly string[]>
  readonly faults: readonly Fault[]
}

export interface SettledAttempt {
  readonly eventId: string
  readonly number: number
  readonly arrivals: readonly Arrival[] // of this attempt, in order
  readonly settled: Arrival // the one whose answer is stored
}

export interface Verdict {
  readonly events: number
  readonly arrivals: number
  readonly repeated: number // arrivals beyond one for each attempt
  readonly inFlight: number // arrivals that were under way at a fault
  readonly attempts: readonly SettledAttempt[]
}

interface AttemptRow {
  event_id: string
  number: number
  status: number | null
  body: string | null
}

// An answer that came this long before a fault may not have been settled yet, on a busy machine; but answers are settled in the order
// in which they came, and those on one connection, which is kept for so long, have one sender.
const unsettledForMs = 5_000
const keptForMs = 4_500

export async function checkStory({ databaseUrl, receiver, told, faults }: Story): Promise<Verdict> {
  const expected = new Set([...told.values()].flat())
  const db = new pg.Client({ connectionString: databaseUrl })
  await db.connect()
  try {
    await waitUntilDelivered(db, receiver, expected)
    const { rows: events } = await db.query<{ id: string; tries: number; state: string }>(
      'select id, tries, state from events',
    )
    const unknown = events.filter(({ id }) => !expected.has(id))
    assertNone(unknown, 'every stored event was told to its publisher')
    assert.equal(events.length, expected.size, 'every event told is stored')

    const arrivals = await receiver.arrivals()
    const strangers = arrivals.filter(({ eventId }) => !expected.has(eventId))
    assertNone(strangers, 'nothing arrives that was never accepted')
    const attempts = await matchAttempts(db, events, arrivals)
    const settled = new Set(attempts.map((attempt) => attempt.settled))
    const repeated = arrivals.filter((arrival) => !settled.has(arrival))
    const onPort = Map.groupBy(settled, (arrival) => arrival.port)
    const isExplained = (arrival: Arrival) =>
      faults.some((fault) => mayBeUnsettled(arrival, fault, onPort.get(arrival.port) ?? []))
    const unexplained = repeated
      .filter((arrival) => !isExplained(arrival))
      .map((sent) => ({ sent, others: arrivals.filter((each) => each.eventId === sent.eventId && each !== sent) }))
    assertNone(unexplained, 'only what was in flight at a fault is sent again')
    return {
      events: events.length,
      arrivals: arrivals.length,
      repeated: repeated.length,
      inFlight: arrivals.filter((arrival) => faults.some((fault) => isUnderWay(arrival, fault, 0))).length,
      attempts,
    }
  } finally {
    await db.end()
  }
}

// Says how many break the promise and shows a few: to compare thousands takes longer than the test.
export function assertNone(breaking: readonly unknown[], promise: string): void {
  const few = JSON.stringify(breaking.slice(0, 3), null, 1)
  assert.ok(breaking.length === 0, `${promise}, but for ${breaking.length}, among them ${few}`)
}

async function waitUntilDelivered(db: pg.Client, receiver: Receiver, expected: ReadonlySet<string>): Promise<void> {
  let missing: string[] = []
  let waiting = 0
  const done = async () => {
    const { rows } = await db.query<{ count: number }>(
      `select count(*)::int as count from events where state <> 'completed'`,
    )
    waiting = rows[0]!.count
    const received = new Set((await receiver.arrivals()).map(({ eventId }) => eventId))
    missing = [...expected].filter((id) => !received.has(id))
    return waiting === 0 && missing.length === 0
  }
  await eventually(done, 'everything that was told to arrive', 120_000).catch(async (error) => {
    const { rows } = await db.query(
      `select e.subscription_id, s.url, e.state, e.queue, count(*)::int, min(e.due_at) as due_at, l.owner, w.heartbeat_at
       from events e join subscriptions s on s.id = e.subscription_id join lanes l on l.subscription_id = e.subscription_id
       left join workers w on w.id = l.owner where e.state <> 'completed' group by 1, 2, 3, 4, 7, 8`,
    )
    const lanes = JSON.stringify(rows, null, 1)
    throw new Error(`${missing.length} events never arrived, ${waiting} are not completed: ${lanes}`, { cause: error })
  })
}

// Tries and attempts agree, the last one delivered it, and each was settled with the answer to an arrival of just that attempt.
async function matchAttempts(
  db: pg.Client,
  events: readonly { id: string; tries: number }[],
  arrivals: readonly Arrival[],
): Promise<SettledAttempt[]> {
  const { rows } = await db.query<AttemptRow>(
    `select event_id, number, status, convert_from(response_body, 'utf8') as body from attempts order by event_id, number`,
  )
  const ofEvent = Map.groupBy(rows, (row) => row.event_id)
  const ofAttempt = Map.groupBy(arrivals, ({ eventId, attempt }) => `${eventId} ${attempt}`)
  for (const { id, tries } of events) {
    const mine = ofEvent.get(id) ?? []
    const numbers = mine.map((row) => row.number)
    assert.deepEqual(
      numbers,
      Array.from({ length: tries }, (_, i) => i + 1),
      `the attempts of ${id}, which has ${tries} tries`,
    )
    const delivered = mine.filter((row) => row.status === 200).map((row) => row.number)
    assert.deepEqual(delivered, [tries], `which attempts delivered ${id}`)
  }
  return rows.map((row) => {
    const what = `attempt ${row.number} of ${row.event_id}`
    assert.notEqual(row.status, null, `${what} got an answer: the endpoint always gives one`)
    const settled = arrivals[Number(row.body)]!
    assert.deepEqual(
      [settled.eventId, settled.attempt, settled.status],
      [row.event_id, row.number, row.status],
      `${what} is stored with the answer it got`,
    )
    return {
      eventId: row.event_id,
      number: row.number,
      arrivals: ofAttempt.get(`${row.event_id} ${row.number}`)!,
      settled,
    }
  })
}

// Begun before the fault ended (it may have arrived later), and not answered long before it.
function isUnderWay(arrival: Arrival, { from, until, hits }: Fault, unsettledMs: number): boolean {
  const { signedAt, endedAt } = arrival
  return signedAt <= until && (endedAt ?? Number.POSITIVE_INFINITY) >= from - unsettledMs && (hits?.(arrival) ?? true)
}

function mayBeUnsettled(arrival: Arrival, fault: Fault, settledOnPort: readonly Arrival[]): boolean {
  const wasFollowed = settledOnPort.some(
    ({ number, at, endedAt }) =>
      number > arrival.number && endedAt! <= fault.from && at - (arrival.endedAt ?? at) < keptForMs,
  )
  return !wasFollowed && isUnderWay(arrival, fault, unsettledForMs)
}

// After deaths the last one who sent an attempt is the one who settles it: those before it cannot.
export function assertLastSenderSettled(attempts: readonly SettledAttempt[]): void {
  const early = attempts.filter(({ arrivals, settled }) => settled !== arrivals.at(-1))
  assertNone(early, 'what was settled is not sent again')
}

export function mostAtOnce(arrivals: readonly Arrival[]): number {
  const steps = arrivals.flatMap(({ at, endedAt }) => [
    { at, by: 1 },
    { at: endedAt ?? Number.POSITIVE_INFINITY, by: -1 },
  ])
  steps.sort((a, b) => a.at - b.at || a.by - b.by) // within one millisecond, ends come first
  let now = 0
  let most = 0
  for (const { by } of steps) {
    now += by
    most = Math.max(most, now)
  }
  return most
}
