// The window: which lane starts the next attempt. Partners take turns, then the lanes of each; endpoints that have not shown
// that they answer quickly share a part of the window, so that no number of hung ones can fill it. One that was slow but did
// answer is not left to wait among the hung: it may start one attempt, as an unknown one may, and so show that it is well. How
// many attempts the quick ones have under way together, `quickLimit` says.
import { answers, type Lane, nextQueue, type QueueName } from './lane.ts'

interface PartnerTurn {
  readonly lanes: Lane[]
  queued: boolean
}

export interface Window {
  offer(lane: Lane): void // it may have something to start
  next(nowMs: number): { lane: Lane; queue: QueueName } | undefined
  started(lane: Lane): void
  ended(lane: Lane): void
  reclassify(lane: Lane, change: () => void): void // around anything that may change `slow` or `proven`
  retryBlocked(): void
  blocked(): boolean // whether some could start, but for the share of their kind
  inFlight(): number
  clear(): void
}

export function createWindow(size: number, quickLimit: () => number = () => size): Window {
  const slowLimit = Math.floor(size / 2)
  const unprovenLimit = Math.floor((size * 3) / 4) // slow ones included
  const partners = new Map<string, PartnerTurn>()
  let turns: PartnerTurn[] = []
  let blocked: Lane[] = [] // could start, but for the share of their kind
  let total = 0
  let slow = 0
  let unproven = 0 // neither slow nor proven

  const count = (lane: Lane, by: number) => {
    if (lane.slow) slow += by
    else if (!lane.proven) unproven += by
  }
  const fits = (lane: Lane) => {
    if (lane.slow && slow < slowLimit) return true
    if (lane.slow && !(answers(lane) && lane.inFlight === 0)) return false
    return lane.proven && !lane.slow ? total - slow - unproven < quickLimit() : slow + unproven < unprovenLimit
  }
  // Endpoints that answered well and then hang, many at once, hold places beyond their share: those do not count against the
  // others, up to a second window's worth.
  const hasRoom = () => total - Math.max(0, slow - slowLimit) < size && total < 2 * size
  const offer = (lane: Lane) => {
    if (lane.queued) return
    lane.queued = true
    let partner = partners.get(lane.partnerId)
    if (!partner) {
      partner = { lanes: [], queued: false }
      partners.set(lane.partnerId, partner)
    }
    partner.lanes.push(lane)
    if (!partner.queued) {
      partner.queued = true
      turns.push(partner)
    }
  }
  const unblock = (most: number) => {
    for (const lane of blocked.splice(0, most)) offer(lane)
  }

  return {
    offer,
    next(nowMs) {
      while (hasRoom()) {
        const partner = turns.shift()
        if (!partner) return undefined
        const lane = partner.lanes.shift()!
        lane.queued = false
        if (partner.lanes.length > 0) turns.push(partner)
        else partner.queued = false
        const queue = nextQueue(lane, nowMs)
        if (queue === undefined) continue
        if (fits(lane)) return { lane, queue }
        blocked.push(lane)
      }
      return undefined
    },
    started(lane) {
      lane.inFlight++
      total++
      count(lane, 1)
    },
    ended(lane) {
      lane.inFlight--
      total--
      count(lane, -1)
      unblock(2)
    },
    reclassify(lane, change) {
      count(lane, -lane.inFlight)
      change()
      count(lane, lane.inFlight)
      unblock(2)
    },
    retryBlocked: () => unblock(blocked.length),
    blocked: () => blocked.length > 0,
    inFlight: () => total,
    clear() {
      partners.clear()
      turns = []
      blocked = []
      total = slow = unproven = 0
    },
  }
}
