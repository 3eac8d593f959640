// The delivery engine of one worker: reads its lanes' queues, keeps a window of attempts full, settles answers as they come.
// Nothing is sent without a fresh heartbeat; nothing is settled for a lane that another worker may have taken.
import type { Context } from '../context.ts'
import type { Signer } from '../signing/signer.ts'
import { signalChannel, type Waker } from '../webhooks/signals.ts'
import { deliver } from './attempt.ts'
import { disposeOf } from './disposal.ts'
import { writeHealth } from './health.ts'
import {
  concurrencyLimit,
  createLane,
  type Entry,
  isOpen,
  isPaused,
  type Lane,
  learn,
  lowerPosition,
  lowWater,
  type QueueName,
  resetQueues,
  slowAfterMs,
  takeEntry,
  wakesAtMs,
} from './lane.ts'
import { countAttempts } from './measures.ts'
import { chooseOwner, joinWorkers } from './membership.ts'
import { type QueuedRow, type QueueRequest, readLanes, readQueues, storePositions } from './queries.ts'
import type { Sender } from './sender.ts'
import { createSettler, type Result } from './settle.ts'
import { openSignalFeed } from './signal-feed.ts'
import { createWindow } from './window.ts'

const windowSize = 1_000
const lanesInOneRead = 200
const mostBuffered = 100
const pollEveryMs = 500
const sweepEveryMs = 500
const storePositionsEveryMs = 10_000
const mostUnsettled = 2_000
const queueNames = ['m', 'f', 'r'] as const

export interface Engine {
  inFlight(): number
  lanes(): ReadonlyMap<string, Lane>
  stop(): Promise<void>
}

interface Flight {
  readonly lane: Lane
  readonly entry: Entry
  readonly startedAtMs: number
}

export async function startEngine(ctx: Context, signer: Signer, sender: Sender, waker: Waker): Promise<Engine> {
  const lanes = new Map<string, Lane>()
  const window = createWindow(windowSize)
  const flights = new Set<Flight>()
  const hungry = new Set<Lane>()
  const measures = countAttempts(ctx.metrics)
  let epoch = 0 // grows when this worker begins anew: what belongs to an earlier one is dropped
  let stopping = false
  let reading = false
  let polling: Promise<void> | undefined
  let pollAgain = false
  let positionsStoredAt = performance.now()

  const dropEverything = () => {
    epoch++
    lanes.clear()
    hungry.clear()
    flights.clear()
    window.clear()
    settler.forget()
  }
  const membership = await joinWorkers(ctx, { joined: dropEverything, beat: () => void tend().catch(warn) })
  const feed = await openSignalFeed(ctx.db)
  const settler = createSettler(ctx, {
    worker: membership.id,
    fenced: membership.lost,
    alsoWrite: (tx, results) => writeHealth(ctx, tx, results),
    settled(result, row) {
      const { lane, entry } = result
      if (lane.known.get(entry.id) === entry.tries) lane.known.delete(entry.id)
      if (row === undefined) {
        resetQueues(lane) // written by an earlier try of the same batch: what it decided is in the database
      } else if (row.retryInMs !== undefined && row.state === 'pending') {
        const queue = lane.queues.r
        if (queue.position !== null && queue.position.dueAt >= row.dueAt) lowerPosition(queue, row.dueAt)
        queue.nextDueAtMs = queue.more
          ? Math.min(queue.nextDueAtMs, performance.now() + row.retryInMs)
          : performance.now() + row.retryInMs
        queue.more = true
      }
      attend(lane)
    },
  })
  function warn(error: Error): void {
    if (!stopping) ctx.log.warn({ error: error.message }, 'delivery could not reach the database')
  }

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

  const wants = (lane: Lane, nowMs: number): QueueName[] => {
    if (!isOpen(lane)) return []
    const paused = isPaused(lane, nowMs)
    const enough = concurrencyLimit(lane)
    return queueNames.filter((name) => {
      const queue = lane.queues[name]
      return queue.more && queue.nextDueAtMs <= nowMs && queue.buffer.length < enough && (name === 'm' || !paused)
    })
  }

  // One read at a time for up to two hundred lanes: no lane waits behind the backlog of another.
  const read = async () => {
    if (reading || stopping || !membership.maySend()) return
    reading = true
    const began = epoch
    try {
      while (hungry.size > 0 && !stopping && began === epoch) {
        const nowMs = performance.now()
        const requests: (QueueRequest & { lane: Lane })[] = []
        for (const lane of hungry) {
          if (requests.length >= lanesInOneRead) break
          hungry.delete(lane)
          const take = Math.min(mostBuffered, 2 * concurrencyLimit(lane))
          for (const queue of wants(lane, nowMs))
            requests.push({ lane, subscriptionId: lane.id, queue, position: lane.queues[queue].position, take })
        }
        if (requests.length === 0) break
        for (const { lane, queue } of requests) lane.queues[queue].signalledFrom = null
        const rows = await readQueues(ctx.db, requests)
        if (began !== epoch) return
        const byRequest = Map.groupBy(rows, (row) => row.request)
        for (const [i, { lane, queue, take }] of requests.entries()) accept(lane, queue, byRequest.get(i) ?? [], take)
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

  const accept = (lane: Lane, name: QueueName, rows: readonly QueuedRow[], take: number) => {
    const queue = lane.queues[name]
    const nowMs = performance.now()
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
      queue.buffer.push({ ...row, queue: name, readAtMs: nowMs })
    }
    // What was committed while the read ran may lie before its end.
    if (queue.signalledFrom !== null) lowerPosition(queue, queue.signalledFrom)
  }

  const pump = () => {
    if (stopping || !membership.maySend() || settler.waiting() > mostUnsettled) return
    const nowMs = performance.now()
    for (let next = window.next(nowMs); next; next = window.next(nowMs)) {
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
    })
    if (began !== epoch) return
    flights.delete(flight)
    window.ended(lane)
    const endedAtMs = performance.now()
    let health: Result['health']
    window.reclassify(lane, () => {
      health = learn(lane, outcome, endedAtMs)
    })
    measures.attempted(entry, outcome, flight.startedAtMs, endedAtMs)
    settler.add({ lane, entry, outcome, url, endedAtMs, health })
    attend(lane)
  }

  // Signals tell which lanes got something; lanes that changed themselves are read anew.
  const poll = async () => {
    const signals = await feed.read()
    const changed = new Set<string>()
    for (const { subscriptionIds, queue, dueAt } of signals) {
      for (const id of subscriptionIds) {
        const lane = lanes.get(id)
        if (queue === '*') changed.add(id)
        else if (lane) {
          lowerPosition(lane.queues[queue], dueAt)
          attend(lane)
        }
      }
    }
    if (changed.size > 0) await refresh([...changed])
  }
  const pollSoon = () => {
    if (stopping) return
    if (polling) {
      pollAgain = true
      return
    }
    polling = poll()
      .catch(warn)
      .finally(() => {
        polling = undefined
        if (pollAgain) {
          pollAgain = false
          pollSoon()
        }
      })
  }

  const refresh = async (ids: readonly string[]) => {
    const began = epoch
    const owned = ids.filter((id) => lanes.has(id))
    const rows = owned.length > 0 ? await readLanes(ctx.db, membership.id(), owned) : []
    if (began !== epoch) return
    for (const row of rows) {
      const lane = lanes.get(row.subscriptionId)
      if (!lane) continue
      const opened = isOpen({ ...lane, row }) !== isOpen(lane)
      lane.row = row
      if (row.failures === 0 && lane.failures > 0) Object.assign(lane, { failures: 0, pauseMs: 0, pausedUntilMs: 0 })
      if (opened) resetQueues(lane)
      dispose(lane)
      attend(lane)
    }
    if (owned.length < ids.length) await takeOver()
  }

  const takeOver = async () => {
    const began = epoch
    const rows = await membership.takeFreeLanes()
    if (began !== epoch) return
    for (const row of rows) {
      const lane = createLane(row, performance.now())
      lanes.set(lane.id, lane)
      dispose(lane)
      attend(lane)
    }
  }

  const dispose = (lane: Lane) => {
    if (lane.row.enabled && !lane.row.deleted) return
    void disposeOf(ctx, membership.id(), lane).catch(warn)
  }

  // With every heartbeat: lanes that are free, lanes that are somebody else's by now, how far reading has come.
  const tend = async () => {
    if (stopping) return
    await takeOver()
    const members = membership.members()
    for (const lane of lanes.values()) lane.draining = chooseOwner(lane.id, members) !== membership.id()
    const leaving = [...lanes.values()].filter((lane) => lane.draining && lane.inFlight === 0 && unsettled(lane) === 0)
    if (leaving.length > 0) await letGo(leaving)
    if (performance.now() - positionsStoredAt > storePositionsEveryMs) {
      positionsStoredAt = performance.now()
      await storePositions(
        ctx.db,
        membership.id(),
        [...lanes.values()].filter((lane) => lane.queues.f.position).map(positionOf),
        false,
      )
      await feed.prune()
    }
  }
  // Read but not started does not count: it is simply read again by the next owner.
  const unsettled = (lane: Lane) =>
    lane.known.size - queueNames.reduce((sum, name) => sum + lane.queues[name].buffer.length, 0)
  const letGo = async (leaving: readonly Lane[]) => {
    for (const lane of leaving) lanes.delete(lane.id)
    await storePositions(ctx.db, membership.id(), leaving.map(positionOf), true)
    await ctx.db.query(`insert into signals (subscription_ids, queue, due_at) values ($1, '*', now())`, [
      leaving.map((lane) => lane.id),
    ])
    waker.wake()
  }
  const positionOf = (lane: Lane) => {
    const underWay = [...flights].filter((flight) => flight.lane === lane).map((flight) => flight.entry)
    return { subscriptionId: lane.id, first: lowWater(lane, 'f', underWay), retry: lowWater(lane, 'r', underWay) }
  }

  // Attempts that take long make their lane a slow one while they still run; and nothing waits for a wake-up that got lost.
  const sweep = () => {
    const nowMs = performance.now()
    for (const { lane, startedAtMs } of flights) {
      if (!lane.slow && nowMs - startedAtMs > slowAfterMs)
        window.reclassify(lane, () => Object.assign(lane, { slow: true }))
    }
    window.retryBlocked()
    for (const lane of lanes.values()) {
      if (wants(lane, nowMs).length > 0 || queueNames.some((name) => lane.queues[name].buffer.length > 0)) attend(lane)
      else comeBack(lane, nowMs)
    }
    pump()
  }

  await takeOver()
  waker.onWake(pollSoon)
  const stopListening = ctx.db.listen?.(signalChannel, pollSoon)
  const timers = [setInterval(pollSoon, pollEveryMs), setInterval(sweep, sweepEveryMs)]
  measures.gauges(() => window.inFlight(), lanes)

  return {
    inFlight: () => window.inFlight(),
    lanes: () => lanes,
    // Nothing new is started; what is under way is finished and settled; then the lanes are let go.
    async stop() {
      stopping = true
      for (const timer of timers) clearInterval(timer)
      await stopListening?.()
      await polling
      while (window.inFlight() > 0) await new Promise((resolve) => setTimeout(resolve, 10))
      await settler.idle()
      await membership.leave()
      await ctx.db
        .query(`insert into signals (subscription_ids, queue, due_at) values ($1, '*', now())`, [[...lanes.keys()]])
        .catch(() => {})
      waker.wake()
    },
  }
}
