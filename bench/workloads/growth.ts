// Cost as work grows: what twenty thousand deliveries cost, in the sender and in the database, when little waits behind them, when
// a million do, and after a million were delivered before them.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Child } from '../lib/child.ts'
import type { Stage } from '../lib/stage.ts'
import { prepareSender } from './drain.ts'
import type { Figures, Workload } from './workload.ts'

const endpoints = 100
const measured = 20_000

export function growthWorkload(backlog: number, rounds: number): Workload {
  const [small, large, churned] = [
    '10,000 waiting',
    `${backlog.toLocaleString('en')} waiting`,
    `after ${backlog.toLocaleString('en')} deliveries`,
  ]
  return {
    name: 'growth',
    title: 'Cost of a delivery as the backlog and the history grow',
    contenders: [small, large, churned],
    rounds,
    async measure(stage, contender): Promise<Figures> {
      const before = contender === churned ? backlog : 0
      const waiting = contender === large ? backlog : measured + 10_000
      await stage.receiver.call('behave', {})
      await stage.receiver.call('reset')
      const sender = await prepareSender(stage, 'partner-service', { events: before + waiting, endpoints })
      try {
        void sender.call('start').catch(() => {})
        await arrived(stage, before + 5_000) // connections made, code warm
        return await costOf(stage, sender, measured)
      } finally {
        await sender.stop()
      }
    },
  }
}

async function costOf(stage: Stage, sender: Child, count: number): Promise<Figures> {
  const { distinct } = await stage.receiver.call<{ distinct: number }>('seen')
  const before = await sender.usage()
  const databaseBefore = stage.databaseCpuSeconds()
  const reached = await arrived(stage, distinct + count)
  const after = await sender.usage()
  const done = reached - distinct
  return {
    senderMicros: ((after.cpuSeconds - before.cpuSeconds) / done) * 1e6,
    databaseMicros: ((stage.databaseCpuSeconds() - databaseBefore) / done) * 1e6,
    peakMegabytes: after.peakMegabytes,
  }
}

async function arrived(stage: Stage, count: number): Promise<number> {
  for (;;) {
    const { distinct } = await stage.receiver.call<{ distinct: number }>('seen')
    if (distinct >= count) return distinct
    await sleep(20)
  }
}
