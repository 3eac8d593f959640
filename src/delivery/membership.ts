// Membership: this process's incarnation as a worker, its heartbeat, and which lanes are its own. Lanes are spread over the living
// workers by a hash that all of them compute alike; a lane changes hands only when its owner lets go of it, or has died.
import { createHash } from 'node:crypto'
import type { Context } from '../context.ts'
import { newId } from '../ids.ts'
import {
  holdFence,
  insertWorker,
  type LaneRow,
  listFreeLanes,
  reapWorkers,
  removeWorker,
  renewHeartbeat,
  takeLanes,
} from './queries.ts'

const beatEveryMs = 2_000
const sendUntilMs = 6_000 // without a renewed heartbeat; others take over after 8 s of the database's time

export interface Membership {
  id(): string
  maySend(): boolean // whether the heartbeat is fresh enough to start something
  members(): readonly string[]
  takeFreeLanes(): Promise<LaneRow[]>
  lost(): void // it was declared dead: begin again as somebody new
  leave(): Promise<void>
}

export interface MembershipOptions {
  readonly joined: () => void // as somebody new: owns nothing
  readonly beat: () => void // after each renewal
}

export async function joinWorkers(ctx: Context, options: MembershipOptions): Promise<Membership> {
  let id = newId('wrk')
  let members: readonly string[] = [id]
  let renewedAt = performance.now()
  let failed = 0
  let stopped = false
  let timer: NodeJS.Timeout | undefined
  let beating: Promise<void> = Promise.resolve()

  await insertWorker(ctx.db, id)

  const rejoin = async () => {
    id = newId('wrk')
    members = [id]
    options.joined()
    const startedAt = performance.now()
    await insertWorker(ctx.db, id)
    renewedAt = startedAt
    ctx.log.warn({ worker: id }, 'this worker was taken for dead and begins anew')
  }
  const beat = async () => {
    try {
      const startedAt = performance.now()
      const alive = await renewHeartbeat(ctx.db.urgent, id)
      if (!alive) return await rejoin()
      members = alive
      renewedAt = startedAt
      // After trouble of one's own, others had it too: they get a turn to renew before anyone is called dead.
      if (failed === 0) {
        const dead = await reapWorkers(ctx.db, id)
        if (dead.length > 0) ctx.log.warn({ dead }, 'workers went silent; their lanes are free')
      } else failed--
      options.beat()
    } catch (error) {
      failed = 2
      if (!stopped) ctx.log.warn({ error: (error as Error).message }, 'the heartbeat could not be renewed')
    }
  }
  const tick = () => {
    beating = beat().finally(() => {
      if (!stopped) timer = setTimeout(tick, beatEveryMs)
    })
  }
  timer = setTimeout(tick, beatEveryMs / 2)

  return {
    id: () => id,
    maySend: () => performance.now() - renewedAt < sendUntilMs,
    members: () => members,
    async takeFreeLanes() {
      const me = id
      const mine = (await listFreeLanes(ctx.db)).filter((lane) => chooseOwner(lane, members) === me)
      if (mine.length === 0) return []
      return ctx.db.transaction(async (tx) => ((await holdFence(tx, me)) ? takeLanes(tx, me, mine) : []))
    },
    lost() {
      clearTimeout(timer)
      tick()
    },
    async leave() {
      stopped = true
      clearTimeout(timer)
      await beating
      await removeWorker(ctx.db, id).catch((error: Error) =>
        ctx.log.warn({ error: error.message }, 'could not sign off; others will notice'),
      )
    },
  }
}

// Rendezvous hashing: everyone agrees without talking, and one worker more or less moves only its own share.
export function chooseOwner(lane: string, members: readonly string[]): string | undefined {
  if (members.length === 1) return members[0]
  let best: string | undefined
  let bestScore = ''
  for (const member of members) {
    const score = createHash('md5').update(`${member} ${lane}`).digest('hex')
    if (best === undefined || score > bestScore) {
      best = member
      bestScore = score
    }
  }
  return best
}
