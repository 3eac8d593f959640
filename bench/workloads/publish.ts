// Publishing alone, inside the process: one by one from 32 callers, and in batches of a thousand. Beside it what PostgreSQL itself
// takes in with batched SQL and nothing around it: ceiling (b).

import { prepareSender, type SenderName } from './drain.ts'
import type { Workload } from './workload.ts'

export function publishWorkload(kind: 'single' | 'batch', count: number, rounds: number): Workload {
  const plan = kind === 'single' ? { count, callers: 32, batch: 1 } : { count, callers: 4, batch: 1_000 }
  return {
    name: `publish-${kind}`,
    title:
      kind === 'single'
        ? 'Publishing single events from 32 callers, in process'
        : 'Publishing batches of 1,000, in process',
    contenders: [
      ...(kind === 'batch' ? ['ceiling (b)'] : []),
      'partner-service',
      'pg-boss',
      'graphile-worker',
      'BullMQ, always',
    ],
    rounds,
    async measure(stage, contender) {
      const child = await prepareSender(stage, contender as SenderName, { events: 0, endpoints: 1 })
      try {
        await child.call('publish', { ...plan, count: Math.min(count, 2_000) }) // warm up
        const before = await child.usage()
        const databaseBefore = stage.databaseCpuSeconds()
        const seconds = await child.call<number>('publish', plan)
        const after = await child.usage()
        return {
          rate: count / seconds,
          perCpuSecond: count / (after.cpuSeconds - before.cpuSeconds),
          databaseCpuSeconds: stage.databaseCpuSeconds() - databaseBefore,
        }
      } finally {
        await child.stop()
      }
    },
  }
}
