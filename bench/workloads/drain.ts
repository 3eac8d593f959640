// Drain: events wait already, then sending starts; how fast, and at what cost, until all have arrived and are settled.
import { setTimeout as sleep } from 'node:timers/promises'
import { type Child, startChild } from '../lib/child.ts'
import type { Stage } from '../lib/stage.ts'

export interface DrainPlan {
  readonly events: number
  readonly endpoints: number
  readonly delayMs?: number
  readonly slowShare?: number
  readonly slowMs?: number
}

export interface DrainResult {
  readonly rate: number // events a second until the last arrived
  readonly perCpuSecond: number // events for each CPU-second of the sending process
  readonly databaseCpuSeconds: number
  readonly receiverCpuSeconds: number
  readonly peakMegabytes: number
  readonly missing: number
  readonly repeated: number
  readonly connections: number
}

export const senders = {
  'ceiling (b)': { file: 'contenders/sql.ts', store: 'postgres' },
  'ceiling (a)': { file: 'contenders/ceiling.ts', store: 'none' },
  'partner-service': { file: 'contenders/ours.ts', store: 'postgres' },
  'partner-service, embedded': { file: 'contenders/ours.ts', store: 'embedded' },
  'pg-boss': { file: 'contenders/pg-boss.ts', store: 'postgres' },
  'graphile-worker': { file: 'contenders/graphile-worker.ts', store: 'postgres' },
  'BullMQ, always': { file: 'contenders/bullmq.ts', store: 'always' },
  'BullMQ, everysec': { file: 'contenders/bullmq.ts', store: 'everysec' },
} as const
export type SenderName = keyof typeof senders

// A process with its store, its endpoints and its events in place.
export async function prepareSender(
  stage: Stage,
  name: SenderName,
  plan: { events: number; endpoints: number },
): Promise<Child> {
  const { file, store } = senders[name]
  const child = startChild(file)
  const where =
    store === 'postgres'
      ? { databaseUrl: await stage.database() }
      : store === 'always' || store === 'everysec'
        ? { redisPort: await stage.redis(store) }
        : {}
  const urls = await stage.urls(plan.endpoints)
  await child.call('prepare', { ...where, dataDir: stage.folder(), caFile: stage.caFile, urls, events: plan.events })
  return child
}

export async function drain(stage: Stage, name: SenderName, plan: DrainPlan): Promise<DrainResult> {
  const sender = await prepareSender(stage, name, plan)
  try {
    const { delayMs = 0, slowShare = 0, slowMs = 0 } = plan
    await stage.receiver.call('behave', { delayMs, slowShare, slowMs })
    await stage.receiver.call('reset')
    const before = await sender.usage()
    const receiverBefore = await stage.receiver.usage()
    const databaseBefore = stage.databaseCpuSeconds()
    const startedAt = performance.timeOrigin + performance.now()
    const started = sender.call('start')
    started.catch(() => {})
    let seen = { distinct: 0, total: 0, lastAt: 0, connections: 0 }
    while (seen.distinct < plan.events) {
      await sleep(50)
      seen = await stage.receiver.call('seen')
      if (performance.timeOrigin + performance.now() - startedAt > 300_000) break
    }
    await started
    while ((await sender.call<number>('remaining')) > 0) await sleep(100)
    const after = await sender.usage()
    const receiverAfter = await stage.receiver.usage()
    return {
      rate: seen.distinct / ((seen.lastAt - startedAt) / 1_000),
      perCpuSecond: seen.distinct / (after.cpuSeconds - before.cpuSeconds),
      databaseCpuSeconds: stage.databaseCpuSeconds() - databaseBefore,
      receiverCpuSeconds: receiverAfter.cpuSeconds - receiverBefore.cpuSeconds,
      peakMegabytes: after.peakMegabytes,
      missing: plan.events - seen.distinct,
      repeated: seen.total - seen.distinct,
      connections: seen.connections,
    }
  } finally {
    await sender.stop()
  }
}
