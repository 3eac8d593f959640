// Which lanes this worker has in memory: taken when free, read anew when they change, let go when they are another worker's. What is
// ours in the database is also here, and what is here is ours: otherwise nobody, or two, would work on it.
import type { Context } from '../context.ts'
import type { Waker } from '../webhooks/signals.ts'
import { disposeOf } from './disposal.ts'
import { createLane, type Entry, isOpen, type Lane, lowWater, resetQueues, unsettled } from './lane.ts'
import { chooseOwner, type Membership } from './membership.ts'
import { type LaneRow, listOwnLanes, readLanes, storePositions } from './queries.ts'

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
  let epoch = 0
  let storedAt = performance.now()

  const adopt = (rows: readonly LaneRow[], began: number) => {
    if (began !== epoch) return
    for (const row of rows) {
      if (lanes.has(row.subscriptionId)) continue
      const lane = createLane(row, performance.now())
      lanes.set(lane.id, lane)
      dispose(lane)
      attend(lane)
    }
  }
  const dispose = (lane: Lane) => {
    if (!lane.row.enabled || lane.row.deleted) disposeOf(ctx, membership().id(), lane).catch(warn)
  }
  const takeFree = async () => {
    const began = epoch
    adopt(await membership().takeFreeLanes(), began)
  }
  // After an answer that got lost, a lane may be ours without our knowing.
  const reclaim = async () => {
    const began = epoch
    const me = membership().id()
    const unknown = (await listOwnLanes(ctx.db, me)).filter((id) => !lanes.has(id))
    if (unknown.length > 0) adopt(await readLanes(ctx.db, me, unknown), began)
  }
  const letGo = async (leaving: readonly Lane[]) => {
    for (const lane of leaving) lanes.delete(lane.id)
    const positions = positionsOf(leaving, underWay())
    await storePositions(ctx.db, membership().id(), positions, true)
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
      const leaving = [...lanes.values()].filter(
        (lane) => lane.draining && lane.inFlight === 0 && unsettled(lane) === 0,
      )
      if (leaving.length > 0) await letGo(leaving).finally(reclaim)
      if (performance.now() - storedAt < storeEveryMs) return
      storedAt = performance.now()
      await reclaim()
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
