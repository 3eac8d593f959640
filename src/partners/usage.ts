// When each key was last used: noted in memory, written in one statement every few seconds, never in a request's way.
import type { Context } from '../context.ts'
import { updateLastUsed } from './queries.ts'

const writeEveryMs = 10_000

export interface KeyUsage {
  note(keyId: string): void
  stop(): Promise<void>
}

export function trackKeyUsage(ctx: Context): KeyUsage {
  let used = new Map<string, Date>()
  const write = async () => {
    if (used.size === 0) return
    const writing = used
    used = new Map()
    await updateLastUsed(ctx.db, writing).catch((error: Error) => {
      ctx.log.warn({ error: error.message }, 'could not write when keys were last used')
      for (const [id, at] of writing) if (!used.has(id)) used.set(id, at)
    })
  }
  const timer = setInterval(write, writeEveryMs)
  timer.unref()
  return {
    note: (keyId) => void used.set(keyId, ctx.now()),
    async stop() {
      clearInterval(timer)
      await write()
    },
  }
}
