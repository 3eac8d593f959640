// A lane in memory: the delivery side of one subscription, owned by this worker alone. What it has read, what is under way, how
// its endpoint fares: concurrency that adapts, a rate limit, a breaker whose pauses use up no tries.
import { fromEscaped } from '../db/escaped-bytes.ts'
import type { Timestamp } from '../times.ts'
import { isSuccess, type Outcome } from './outcome.ts'
import type { LaneRow, QueuedRow } from './queries.ts'

export type QueueName = 'f' | 'r' | 'm'

export interface Entry extends Omit<QueuedRow, 'payload'> {
  readonly payload: Buffer
  readonly queue: QueueName
  readonly readAtMs: number
}

export interface Queue {
  position: { dueAt: Timestamp; id: string } | null // everything up to here was read; null: nothing yet
  more: boolean // there may be something to read
  nextDueAtMs: number // when, on this process's clock
  signalledFrom: Timestamp | null // the oldest due time signalled since the last read began
  buffer: Entry[]
}

export interface Lane {
  readonly id: string
  readonly partnerId: string
  row: LaneRow
  readonly queues: Record<QueueName, Queue>
  generation: number // grows when the queues are to be read from the start: what an earlier read brings is void
  readonly known: Map<string, number> // events read and not yet settled, with the tries they had
  reading: boolean // a read is under way, whose snapshot may be older than what was settled since
  settledMeanwhile: Entry[]
  inFlight: number
  concurrency: number
  successes: number // in a row since concurrency last changed
  proven: boolean // has answered well since it was taken over
  slow: boolean
  failures: number
  failingSinceMs: number
  pausedUntilMs: number
  pauseMs: number
  retryTurn: boolean
  rateTokens: number
  rateAtMs: number
  draining: boolean // another worker's turn: starts nothing more
  queued: boolean // waiting for a place in the window
  timer: NodeJS.Timeout | undefined // when to look at it again
}

const mostConcurrency = 50
const startConcurrency = 5
export const slowAfterMs = 2_000
const breakerFailures = 10
const breakerAfterMs = 30_000
const firstPauseMs = 30_000
const longestPauseMs = 600_000
export const queueOrder = ['m', 'f', 'r'] as const

export function createLane(row: LaneRow, nowMs: number): Lane {
  const queue = (from: Timestamp | null): Queue => ({
    position: from === null ? null : { dueAt: from, id: '' },
    more: true,
    nextDueAtMs: 0,
    signalledFrom: null,
    buffer: [],
  })
  return {
    id: row.subscriptionId,
    partnerId: row.partnerId,
    row,
    queues: { f: queue(row.firstPosition), r: queue(row.retryPosition), m: queue(null) },
    generation: 0,
    known: new Map(),
    reading: false,
    settledMeanwhile: [],
    inFlight: 0,
    concurrency: startConcurrency,
    successes: 0,
    proven: false,
    slow: row.failures > 0, // until it answers quickly: those known to fail do not crowd out the others after a restart
    failures: row.failures,
    failingSinceMs: nowMs - row.failingForMs,
    pausedUntilMs: nowMs + row.pausedForMs,
    pauseMs: row.pauseMs,
    retryTurn: false,
    rateTokens: 0, // whoever had the lane before may just have used its allowance
    rateAtMs: nowMs,
    draining: false,
    queued: false,
    timer: undefined,
  }
}

export function resetQueues(lane: Lane): void {
  lane.generation++
  for (const name of queueOrder) {
    const queue = lane.queues[name]
    for (const entry of queue.buffer) lane.known.delete(entry.id)
    Object.assign(queue, { position: null, more: true, nextDueAtMs: 0, signalledFrom: null, buffer: [] })
  }
}

// Something with this due time was committed: reading must start no later than there.
export function lowerPosition(queue: Queue, dueAt: Timestamp): void {
  queue.more = true
  queue.nextDueAtMs = 0
  if (queue.signalledFrom === null || queue.signalledFrom > dueAt) queue.signalledFrom = dueAt
  if (queue.position !== null && queue.position.dueAt >= dueAt) queue.position = { dueAt, id: '' }
}

// This worker has just scheduled a retry itself. `signalledFrom` covers a read that began before it was committed.
export function expectRetry(queue: Queue, dueAt: Timestamp, atMs: number): void {
  const soonest = queue.more ? Math.min(queue.nextDueAtMs, atMs) : atMs
  lowerPosition(queue, dueAt)
  queue.nextDueAtMs = soonest
}

// It is settled. A read that began before that may still bring it as it was, and must not have it sent again.
export function forgetEntry(lane: Lane, entry: Entry): void {
  if (lane.reading) lane.settledMeanwhile.push(entry)
  else if (lane.known.get(entry.id) === entry.tries) lane.known.delete(entry.id)
}

export function endReading(lane: Lane): void {
  lane.reading = false
  for (const entry of lane.settledMeanwhile.splice(0)) forgetEntry(lane, entry)
}

// Takes in what a read from the lane's position on has brought, when `take` rows were asked for.
export function acceptRows(lane: Lane, name: QueueName, rows: readonly QueuedRow[], take: number, nowMs: number): void {
  const queue = lane.queues[name]
  queue.more = rows.length >= take
  queue.nextDueAtMs = 0
  for (const row of rows) {
    if (row.dueInMs > 0) {
      queue.more = true
      queue.nextDueAtMs = nowMs + row.dueInMs
      break
    }
    queue.position = { dueAt: row.dueAt, id: row.id }
    if ((lane.known.get(row.id) ?? -1) >= row.tries) continue
    lane.known.set(row.id, row.tries)
    queue.buffer.push({ ...row, payload: fromEscaped(row.payload), queue: name, readAtMs: nowMs })
  }
  // What was committed while the read ran may lie before its end.
  if (queue.signalledFrom !== null) lowerPosition(queue, queue.signalledFrom)
}

export function isOpen({ row, draining }: Lane): boolean {
  return row.enabled && !row.deleted && !row.suspended && !draining
}

// One at a time until the endpoint has shown that it answers, and while the breaker probes it.
export function concurrencyLimit(lane: Lane): number {
  return lane.proven && lane.pauseMs === 0 ? lane.concurrency : 1
}

export function isPaused(lane: Lane, nowMs: number): boolean {
  return lane.pausedUntilMs > nowMs
}

// The queues that should be read now.
export function wants(lane: Lane, nowMs: number): QueueName[] {
  if (!isOpen(lane)) return []
  const paused = isPaused(lane, nowMs)
  const enough = concurrencyLimit(lane)
  return queueOrder.filter((name) => {
    const queue = lane.queues[name]
    return queue.more && queue.nextDueAtMs <= nowMs && queue.buffer.length < enough && (name === 'm' || !paused)
  })
}

// The queue that may start something now. Manual resends pass the breaker; first attempts and retries take turns, so that
// neither waits behind a heap of the other.
export function nextQueue(lane: Lane, nowMs: number): QueueName | undefined {
  if (!isOpen(lane) || lane.inFlight >= concurrencyLimit(lane) || !hasRate(lane, nowMs)) return undefined
  if (lane.queues.m.buffer.length > 0) return 'm'
  if (isPaused(lane, nowMs)) return undefined
  const order: readonly QueueName[] = lane.retryTurn ? ['r', 'f'] : ['f', 'r']
  return order.find((name) => lane.queues[name].buffer.length > 0)
}

export function takeEntry(lane: Lane, name: QueueName): Entry {
  if (name !== 'm') lane.retryTurn = name === 'f'
  if (lane.row.rateLimitPerSecond !== null) lane.rateTokens -= 1
  return lane.queues[name].buffer.shift()!
}

function hasRate(lane: Lane, nowMs: number): boolean {
  const rate = lane.row.rateLimitPerSecond
  if (rate === null) return true
  lane.rateTokens = Math.min(Math.max(1, rate / 10), lane.rateTokens + ((nowMs - lane.rateAtMs) / 1_000) * rate)
  lane.rateAtMs = nowMs
  return lane.rateTokens >= 1
}

// When the lane may start something although it cannot now; undefined when only an event will tell.
export function wakesAtMs(lane: Lane, nowMs: number): number | undefined {
  const times: number[] = []
  const rate = lane.row.rateLimitPerSecond
  const waiting = queueOrder.some((name) => lane.queues[name].buffer.length > 0)
  if (waiting && rate !== null && lane.rateTokens < 1) times.push(nowMs + ((1 - lane.rateTokens) / rate) * 1_000)
  if (isPaused(lane, nowMs)) times.push(lane.pausedUntilMs)
  else
    for (const name of queueOrder)
      if (lane.queues[name].more && lane.queues[name].nextDueAtMs > nowMs) times.push(lane.queues[name].nextDueAtMs)
  return times.length > 0 ? Math.min(...times) : undefined
}

export type HealthChange = 'failing' | 'recovered' | undefined

// Learns from an outcome. Says when the breaker opens for the first time, and when the endpoint is well again.
export function learn(lane: Lane, outcome: Outcome, nowMs: number, random: () => number = Math.random): HealthChange {
  if (outcome.durationMs < slowAfterMs) lane.slow = false
  if (isSuccess(outcome)) {
    const wasPaused = lane.pauseMs > 0
    lane.failures = 0
    lane.pauseMs = 0
    lane.pausedUntilMs = 0
    lane.proven = true
    if (++lane.successes >= lane.concurrency) {
      lane.successes = 0
      lane.concurrency = Math.min(mostConcurrency, lane.concurrency + 1)
    }
    return wasPaused ? 'recovered' : undefined
  }
  lane.successes = 0
  if (outcome.kind === 'timeout' || (outcome.kind === 'status' && outcome.status === 429)) {
    lane.concurrency = Math.max(1, Math.floor(lane.concurrency / 2))
  }
  if (outcome.kind === 'timeout') lane.slow = true
  if (lane.failures++ === 0) lane.failingSinceMs = nowMs - outcome.durationMs
  const opens = lane.failures >= breakerFailures && nowMs - lane.failingSinceMs >= breakerAfterMs
  if (!opens || isPaused(lane, nowMs)) return undefined
  const first = lane.pauseMs === 0
  lane.pauseMs = first ? firstPauseMs : Math.min(longestPauseMs, lane.pauseMs * 2)
  lane.pausedUntilMs = nowMs + lane.pauseMs * (0.9 + 0.2 * random())
  return first ? 'failing' : undefined
}

// The last attempt went well.
export function answers(lane: Lane): boolean {
  return lane.proven && lane.failures === 0
}

// The oldest time from which another worker would have to read on.
export function lowWater(lane: Lane, name: 'f' | 'r', underWay: Iterable<Entry>): Timestamp | null {
  const queue = lane.queues[name]
  let oldest = queue.position?.dueAt ?? null
  for (const entry of [...queue.buffer, ...underWay]) {
    if (entry.queue === name && (oldest === null || entry.dueAt < oldest)) oldest = entry.dueAt
  }
  return queue.position === null ? null : oldest
}

// Read but not started does not count: it is simply read again by the next owner.
export function unsettled(lane: Lane): number {
  return lane.known.size - queueOrder.reduce((sum, name) => sum + lane.queues[name].buffer.length, 0)
}
