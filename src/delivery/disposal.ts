// Events of a disabled or deleted subscription do not wait: they move to `error`, in bounded steps behind the fence, also those
// that a publication under way committed after the subscription changed.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Context } from '../context.ts'
import { tellReset } from '../live/entries.ts'
import { giveUpPending } from '../webhooks/queries.ts'
import type { Lane } from './lane.ts'
import { holdFence } from './queries.ts'

const eventsInOneStep = 1_000
const pauseMs = 10

export async function disposeOf(ctx: Context, worker: string, lane: Lane): Promise<void> {
  for (;;) {
    const left = await ctx.db.transaction(async (tx) => {
      if (!(await holdFence(tx, worker))) return false
      const { rows } = await tx.query<{ deleted: boolean }>(
        `select deleted_at is not null as deleted from subscriptions
         where partner_id = $1 and id = $2 and (state = 'disabled' or deleted_at is not null) for share`,
        [lane.partnerId, lane.id],
      )
      if (!rows[0]) return false // enabled again in the meantime
      const reason = rows[0].deleted ? 'subscription_deleted' : 'subscription_disabled'
      await tellReset(tx, lane.partnerId)
      return giveUpPending(tx, lane.id, reason, eventsInOneStep)
    })
    if (!left) return
    await sleep(pauseMs)
  }
}
