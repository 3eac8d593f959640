// Works off bulk resends in the background, step by step, on whichever worker gets to it.
import type { Context } from '../context.ts'
import { stepBulkResend } from './events.ts'
import type { Waker } from './signals.ts'

const lookEveryMs = 1_000

export function startBulkWorker(ctx: Context, waker: Waker): () => Promise<void> {
  let stopped = false
  let running: Promise<void> | undefined
  const work = async () => {
    while (!stopped && (await ctx.db.transaction(stepBulkResend))) waker.wake()
  }
  const look = () => {
    running ??= work()
      .catch((error: Error) => ctx.log.warn({ error: error.message }, 'a bulk resend could not go on'))
      .finally(() => {
        running = undefined
      })
  }
  const timer = setInterval(look, lookEveryMs)
  look()
  return async () => {
    stopped = true
    clearInterval(timer)
    await running
  }
}
