// Who gets the next place in the window, without a database or a network: turns of partners, and the shares of endpoints that are
// slow or unknown. Costs nothing.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLane, type Lane, learn, takeEntry } from '../../src/delivery/lane.ts'
import type { LaneRow } from '../../src/delivery/queries.ts'
import { createWindow, type Window } from '../../src/delivery/window.ts'

let made = 0
function laneOf(partnerId: string, more: Partial<Lane> = {}): Lane {
  const row = {
    partnerId,
    subscriptionId: `sub_${made++}`,
    enabled: true,
    rateLimitPerSecond: null,
    failures: 0,
  } as LaneRow
  const lane = Object.assign(createLane({ ...row, failingForMs: 0, pausedForMs: 0, pauseMs: 0 }, 0), more)
  for (let i = 0; i < 100; i++) lane.queues.f.buffer.push({ id: `evt_${i}`, queue: 'f' } as never)
  return lane
}

// Starts all that may be started; the lanes in the order of their attempts.
function fill(window: Window, most = Number.POSITIVE_INFINITY): Lane[] {
  const started: Lane[] = []
  for (let next = window.next(0); next; next = started.length < most ? window.next(0) : undefined) {
    takeEntry(next.lane, next.queue)
    window.started(next.lane)
    window.offer(next.lane)
    started.push(next.lane)
  }
  return started
}

const proven = { proven: true, concurrency: 50 }
const ok = { kind: 'status', status: 200, retryAfterMs: undefined, body: Buffer.alloc(0), durationMs: 5 } as const

test('partners take turns, however many endpoints one of them has, and then the endpoints of each', () => {
  const window = createWindow(40)
  const many = Array.from({ length: 30 }, () => laneOf('many', proven))
  const few = [laneOf('few', proven), laneOf('few', proven)]
  for (const lane of [...many, ...few]) window.offer(lane)
  const started = fill(window)
  assert.equal(started.length, 40)
  assert.equal(started.filter((lane) => lane.partnerId === 'few').length, 20)
  assert.equal(started.filter((lane) => lane === few[0]).length, 10)
  assert.equal(new Set(started.filter((lane) => lane.partnerId === 'many')).size, 20)
})

test('slow endpoints together get half of the window, unknown ones a quarter more, and quick ones all of it', () => {
  const window = createWindow(100)
  const slow = Array.from({ length: 100 }, () => laneOf('slow', { slow: true }))
  for (const lane of slow) window.offer(lane)
  assert.equal(fill(window).length, 50)
  for (let i = 0; i < 100; i++) window.offer(laneOf('unknown'))
  assert.equal(fill(window).length, 25)
  window.offer(laneOf('quick', proven))
  assert.equal(fill(window).length, 25)
  assert.equal(window.inFlight(), 100)
})

test('an endpoint that was slow but answers may try once more among the hung ones, and is then quick again', () => {
  const window = createWindow(100)
  for (let i = 0; i < 100; i++) window.offer(laneOf('hung', { slow: true }))
  fill(window)
  const failing = laneOf('failing', { ...proven, slow: true, failures: 1 })
  const recovering = laneOf('recovering', { ...proven, slow: true })
  window.offer(failing)
  window.offer(recovering)
  assert.deepEqual(fill(window), [recovering], 'one attempt')
  window.ended(recovering)
  window.reclassify(recovering, () => void learn(recovering, ok, 10))
  window.offer(recovering)
  assert.equal(fill(window).length, 50)
})

test('endpoints known to fail begin as slow ones after a takeover, until one answers quickly', () => {
  const row = { ...laneOf('p').row, failures: 3 }
  const lane = createLane(row, 0)
  assert.equal(lane.slow, true)
  learn(lane, { kind: 'reset', detail: '', durationMs: 10 }, 10)
  assert.equal(lane.slow, false)
})

test('quick endpoints share what the pace allows; slow and unknown ones are not held back by it', () => {
  let quick = 5
  const window = createWindow(40, () => quick)
  const lanes = Array.from({ length: 10 }, () => laneOf('well', proven))
  for (const lane of lanes) window.offer(lane)
  const unknown = laneOf('unknown')
  window.offer(unknown)
  const started = fill(window)
  assert.equal(started.filter((lane) => lane.proven).length, 5)
  assert.ok(started.includes(unknown))
  assert.ok(window.blocked())
  window.ended(started.find((lane) => lane.proven)!)
  assert.equal(fill(window).length, 1, 'one ended, so one more may start')
  quick = 40
  window.retryBlocked()
  assert.ok(fill(window).length >= 10)
})
