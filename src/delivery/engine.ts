// The delivery engine of one worker: reads its lanes' queues, keeps a window of attempts full, settles answers as they come.
// Nothing is sent without a fresh heartbeat; nothing is settled for a lane that another worker may have taken.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Context } from '../context.ts'
import type { Signer } from '../signing/signer.ts'
import { signalChannel, type Waker } from '../webhooks/signals.ts'
import { deliver } from './attempt.ts'
import { createChores } from './chores.ts'
import { writeHealth } from './health.ts'
import {
  acceptRows,
  type Entry,
  endReading,
  expectRetry,
  forgetEntry,
  type Lane,
  learn,
  lowerPosition,
  queueOrder,
  resetQueues,
  slowAfterMs,
  takeEntry,
  wakesAtMs,
  wants,
} from './lane.ts'
import { countAttempts } from './measures.ts'
import { joinWorkers } from './membership.ts'
import type { Outcome } from './outcome.ts'
import { createOwnership } from './ownership.ts'
import { createPace } from './pace.ts'
import { readQueues } from './queries.ts'
import { nextReadings } from './reading.ts'
import type { Sender } from './sender.ts'
import { createSettler, type Result } from './settle.ts'
import { openSignalFeed } from './signal-feed.ts'
import { keepStatistics } from './statistics.ts'
import { createWindow } from './window.ts'

const windowSize = 1_000
const pollEveryMs = 500
const sweepEveryMs = 500
const paceEveryMs = 100
const mostUnsettled = 2_000
const settleWithinMs = 10_000
const lookAgainEveryMs = 60_000

interface Flight {
  readonly lane: Lane
  readonly entry: Entry
  readonly startedAtMs: number
}

// Returns what stops it; to be called any number of times.
export async function startEngine(ctx: Context, signer: Signer, sender: Sender, waker: Waker) {
  const pace = createPace(windowSize)
  const window = createWindow(windowSize, pace.limit)
  const flights = new Set<Flight>()
  const hungry = new Set<Lane>()
  const measures = countAttempts(ctx.metrics)
  const statistics = keepStatistics(ctx)
  let epoch = 0 // grows when this worker begins anew: what belongs to an earlier one is dropped
  let stopping = false
  let reading = false
  let lookedAgainAt = performance.now()
  const changed = new Set<string>() // lanes that are to be read anew

  const warn = (error: Error) => {
    if (!stopping) ctx.log.warn({ error: error.message }, 'delivery could not reach the database')
  }
  const chores = createChores(warn) // what changes the set of lanes
  const feed = await openSignalFeed(ctx.db)
  const membership = await joinWorkers(ctx, {
    joined() {
      epoch++
      ownership.dropAll()
      hungry.clear()
      flights.clear()
      window.clear()
      settler.forget()
    },
    beat() {
      if (!stopping) chores.add('tend', ownership.tend)
    },
  })
  const ownership = createOwnership(ctx, waker, {
    membership: () => membership,
    underWay: () => [...flights, ...settler.entries()],
    attend: (lane) => attend(lane),
    warn,
  })
  const { lanes } = ownership
  const settler = createSettler(ctx, {
    worker: membership.id,
    fenced: membership.lost,
    alsoWrite: (tx, results) => writeHealth(ctx, tx, results),
    settled(result, row) {
      const { lane, entry } = result
      forgetEntry(lane, entry)
      // Without a row it was written by an earlier try of the same batch: what that decided is in the database.
      if (row === undefined) resetQueues(lane)
      else {
        lane.row.failures = lane.failures
        statistics.count(result)
      }
      if (row?.retryInMs !== undefined && row.state === 'pending') {
        expectRetry(lane.queues.r, row.dueAt, performance.now() + row.retryInMs)
      }
      attend(lane)
    },
  })
  // Looks at a lane after anything happened to it: is there something to read, something to start, or a time to come back?
  const attend = (lane: Lane) => {
    if (lanes.get(lane.id) !== lane || stopping) return
    const nowMs = performance.now()
    window.offer(lane)
    if (wants(lane, nowMs).length > 0) hungry.add(lane)
    pump()
    if (hungry.size > 0) void read()
    comeBack(lane, nowMs)
  }
  const comeBack = (lane: Lane, nowMs: number) => {
    const at = wakesAtMs(lane, nowMs)
    if (at === undefined || at - nowMs > sweepEveryMs || lane.timer) return
    lane.timer = setTimeout(
      () => {
        lane.timer = undefined
        attend(lane)
      },
      Math.max(1, at - nowMs),
    )
    lane.timer.unref()
  }

  // One read at a time for up to two hundred lanes: no lane waits behind the backlog of another.
  const read = async () => {
    if (reading || stopping || !membership.maySend()) return
    reading = true
    const began = epoch
    try {
      while (hungry.size > 0 && !stopping && began === epoch) {
        const requests = nextReadings(hungry, performance.now())
        if (requests.length === 0) break
        for (const { lane, queue } of requests) {
          lane.reading = true
          lane.queues[queue].signalledFrom = null
        }
        const rows = await readQueues(ctx.db, requests).catch((error) => {
          for (const { lane } of requests) endReading(lane)
          throw error
        })
        if (began !== epoch) return
        const byRequest = Map.groupBy(rows, (row) => row.request)
        for (const [i, { lane, generation, queue, take }] of requests.entries()) {
          if (lane.generation === generation) acceptRows(lane, queue, byRequest.get(i) ?? [], take, performance.now())
        }
        for (const { lane } of requests) endReading(lane)
        for (const { lane } of requests) {
          window.offer(lane)
          if (wants(lane, performance.now()).length > 0) hungry.add(lane)
        }
        pump()
      }
    } catch (error) {
      warn(error as Error)
    } finally {
      reading = false
    }
  }

  const pump = () => {
    if (stopping || settler.waiting() > mostUnsettled) return
    const nowMs = performance.now()
    // Asked for each: the process may have been paused since the last.
    while (membership.maySend()) {
      const next = window.next(nowMs)
      if (!next) break
      const { lane, queue } = next
      const entry = takeEntry(lane, queue)
      window.started(lane)
      void attempt(lane, entry)
      window.offer(lane)
      if (wants(lane, nowMs).length > 0) hungry.add(lane)
    }
    if (hungry.size > 0) void read()
  }

  const attempt = async (lane: Lane, entry: Entry) => {
    const began = epoch
    const flight: Flight = { lane, entry, startedAtMs: performance.now() }
    flights.add(flight)
    const url = lane.row.url
    const outcome = await deliver(sender, signer, {
      eventId: entry.id,
      subscriptionId: lane.id,
      action: entry.action,
      attempt: entry.tries + 1,
      url,
      body: entry.payload,
    }).catch((error: Error): Outcome => ({ kind: 'protocol', detail: error.message, durationMs: 0 }))
    if (began !== epoch) return
    flights.delete(flight)
    window.ended(lane)
    const endedAtMs = performance.now()
    let health: Result['health']
    // What an address answered that is not the lane's any more says nothing about the new one.
    if (url === lane.row.url) {
      window.reclassify(lane, () => {
        health = learn(lane, outcome, endedAtMs)
      })
    }
    measures.attempted(entry, outcome, flight.startedAtMs, endedAtMs)
    settler.add({ lane, entry, outcome, url, endedAtMs, health })
    attend(lane)
  }

  // Signals tell which lanes got something; lanes that changed themselves are read anew.
  const poll = async () => {
    const signals = await feed.read()
    for (const { subscriptionIds, queue, dueAt } of signals) {
      for (const id of subscriptionIds) {
        const lane = lanes.get(id)
        if (queue === '*') changed.add(id)
        else if (lane) {
          lowerPosition(lane.queues[queue], dueAt)
          ownership.dispose(lane)
          attend(lane)
        }
      }
    }
    if (changed.size > 0) {
      const ids = [...changed]
      await ownership.refresh(ids)
      for (const id of ids) changed.delete(id)
    }
    if (performance.now() - lookedAgainAt > lookAgainEveryMs) await lookAgain()
  }
  // Signals are forgotten only after they were read; and should one ever have been missed, its lane is looked at all the same.
  const lookAgain = async () => {
    lookedAgainAt = performance.now()
    await feed.prune()
    for (const lane of lanes.values()) {
      for (const name of queueOrder) Object.assign(lane.queues[name], { more: true, nextDueAtMs: 0 })
    }
  }
  const pollSoon = () => {
    if (!stopping) chores.add('poll', poll)
  }

  // Attempts that take long make their lane a slow one while they still run.
  const sweep = () => {
    const nowMs = performance.now()
    for (const { lane, startedAtMs } of flights) {
      if (!lane.slow && nowMs - startedAtMs > slowAfterMs)
        window.reclassify(lane, () => Object.assign(lane, { slow: true }))
    }
    window.retryBlocked()
    for (const lane of lanes.values()) {
      if (wants(lane, nowMs).length > 0 || queueOrder.some((name) => lane.queues[name].buffer.length > 0)) attend(lane)
      else comeBack(lane, nowMs)
    }
    pump()
  }

  await ownership.takeFree()
  waker.onWake(pollSoon)
  const stopListening = ctx.db.listen?.(signalChannel, pollSoon)
  const timers = [
    setInterval(pollSoon, pollEveryMs),
    setInterval(sweep, sweepEveryMs),
    setInterval(() => pace.adjust(window.blocked()), paceEveryMs),
  ]
  measures.gauges(() => window.inFlight(), lanes)

  // Nothing new is started; what is under way is finished and settled; then the lanes are let go.
  const stop = async () => {
    stopping = true
    for (const timer of timers) clearInterval(timer)
    await stopListening?.()
    await chores.idle()
    while (window.inFlight() > 0) await sleep(10)
    // Without a database nothing can be settled: what was under way is then sent again by whoever comes next.
    await Promise.race([settler.idle(), sleep(settleWithinMs, undefined, { ref: false })])
    settler.stop()
    await statistics.stop()
    await membership.leave()
    waker.wake()
  }
  let stopped: Promise<void> | undefined
  return () => {
    stopped ??= stop()
    return stopped
  }
}
