// Which lanes this worker has in memory: taken when free, read anew when they change, let go when they are another worker's. What is
// ours in the database is also here, and what is here is ours: otherwise nobody, or two, would work on it. What it offers is called
// one after the other, never two at a time.
import type { Context } from '../context.ts'
import type { Waker } from '../webhooks/signals.ts'
import { disposeOf } from './disposal.ts'
import { createLane, type Entry, isOpen, type Lane, lowWater, resetQueues, unsettled } from './lane.ts'
import { chooseOwner, type Membership } from './membership.ts'
import {
  freeOrphanedLanes,
  type LanePosition,
  type LaneRow,
  listOwnLanes,
  readLanes,
  storePositions,
} from './queries.ts'

const storeEveryMs = 10_000

export interface Ownership {
  readonly lanes: ReadonlyMap<string, Lane>
  takeFree(): Promise<void>
  dispose(lane: Lane): void // something came for it although it is disabled or deleted
  refresh(subscriptionIds: readonly string[]): Promise<void> // they changed: their subscription, or their freedom
  tend(): Promise<void> // with every heartbeat
  dropAll(): void // as a worker that was taken for dead
}

export interface OwnershipOptions {
  readonly membership: () => Membership
  readonly underWay: () => readonly { readonly lane: Lane; readonly entry: Entry }[]
  readonly attend: (lane: Lane) => void
  readonly warn: (error: Error) => void
}

export function createOwnership(
  ctx: Context,
  waker: Waker,
  { membership, underWay, attend, warn }: OwnershipOptions,
): Ownership {
  const lanes = new Map<string, Lane>()
  const stored = new WeakMap<Lane, string>() // positions as last written: an idle lane is not written again and again
  const leaving = new Map<string, LanePosition>() // let go here, but not yet known to be free in the database
  let epoch = 0
  let storedAt = performance.now()

  const adopt = (rows: readonly LaneRow[], began: number) => {
    if (began !== epoch) return
    for (const row of rows) {
      if (lanes.has(row.subscriptionId)) continue
      const lane = createLane(row, performance.now())
      lanes.set(lane.id, lane)
      leaving.delete(lane.id)
      dispose(lane)
      attend(lane)
    }
  }
  const undisposed = new Set<Lane>() // closed lanes that may still have pending events
  const dispose = (lane: Lane) => {
    if (lane.row.enabled && !lane.row.deleted) return
    undisposed.add(lane)
    void disposeOf(ctx, membership().id(), lane).then(() => undisposed.delete(lane), warn)
  }
  const takeFree = async () => {
    const began = epoch
    adopt(await membership().takeFreeLanes(), began)
  }
  // After an answer that got lost, a lane may be ours, or another's, without our knowing.
  const reclaim = async () => {
    const began = epoch
    const me = membership().id()
    const own = new Set(await listOwnLanes(ctx.db, me))
    if (began !== epoch) return
    for (const id of lanes.keys()) if (!own.has(id)) lanes.delete(id)
    const unknown = [...own].filter((id) => !lanes.has(id) && !leaving.has(id))
    if (unknown.length > 0) adopt(await readLanes(ctx.db, me, unknown), began)
  }
  // What was once let go is freed, however often that takes: to take it back after a lost answer could make it two workers'.
  const free = async () => {
    const going = [...leaving.values()].sort((a, b) => (a.subscriptionId < b.subscriptionId ? -1 : 1))
    if (going.length === 0) return
    await storePositions(ctx.db, membership().id(), going, true)
    for (const { subscriptionId } of going) leaving.delete(subscriptionId)
    waker.wake()
  }

  return {
    lanes,
    takeFree,
    dispose,
    async refresh(ids) {
      const began = epoch
      const owned = ids.filter((id) => lanes.has(id))
      const rows = owned.length > 0 ? await readLanes(ctx.db, membership().id(), owned) : []
      if (began !== epoch) return
      const found = new Set(rows.map((row) => row.subscriptionId))
      for (const id of owned) if (!found.has(id) && lanes.get(id)?.row.deleted) lanes.delete(id) // retention took it
      for (const row of rows) {
        const lane = lanes.get(row.subscriptionId)
        if (!lane) continue
        const turned = isOpen({ ...lane, row }) !== isOpen(lane)
        lane.row = row
        if (row.failures === 0) Object.assign(lane, { failures: 0, pauseMs: 0, pausedUntilMs: 0 })
        if (turned) resetQueues(lane)
        dispose(lane)
        attend(lane)
      }
      if (owned.length < ids.length) await takeFree()
    },
    async tend() {
      await takeFree()
      const members = membership().members()
      for (const lane of lanes.values()) lane.draining = chooseOwner(lane.id, members) !== membership().id()
      const done = [...lanes.values()].filter((lane) => lane.draining && lane.inFlight === 0 && unsettled(lane) === 0)
      for (const position of positionsOf(done, underWay())) {
        lanes.delete(position.subscriptionId)
        leaving.set(position.subscriptionId, position)
      }
      await free()
      if (performance.now() - storedAt < storeEveryMs) return
      storedAt = performance.now()
      await freeOrphanedLanes(ctx.db)
      await reclaim()
      for (const lane of undisposed) if (lanes.get(lane.id) === lane) dispose(lane)
      const read = [...lanes.values()].filter(
        (lane) => lane.queues.f.position !== null || lane.queues.r.position !== null,
      )
      const moved = positionsOf(read, underWay()).filter(
        ({ subscriptionId, first, retry }) => stored.get(lanes.get(subscriptionId)!) !== `${first} ${retry}`,
      )
      if (moved.length === 0) return
      await storePositions(ctx.db, membership().id(), moved, false)
      for (const { subscriptionId, first, retry } of moved) {
        const lane = lanes.get(subscriptionId)
        if (lane) stored.set(lane, `${first} ${retry}`)
      }
    },
    dropAll() {
      epoch++
      lanes.clear()
      leaving.clear()
      undisposed.clear()
    },
  }
}

function positionsOf(lanes: readonly Lane[], flights: readonly { readonly lane: Lane; readonly entry: Entry }[]) {
  const entries = Map.groupBy(flights, (flight) => flight.lane)
  const inOrder = lanes.toSorted((a, b) => (a.id < b.id ? -1 : 1)) // as settling locks them
  return inOrder.map((lane) => {
    const underWay = (entries.get(lane) ?? []).map((flight) => flight.entry)
    return { subscriptionId: lane.id, first: lowWater(lane, 'f', underWay), retry: lowWater(lane, 'r', underWay) }
  })
}
