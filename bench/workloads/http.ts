// Over HTTP: reading the account, and publishing single events from 64 callers, each beside a bare node:http server that does as
// little as can be done, by the CPU time of the answering process.
import { startChild } from '../lib/child.ts'
import { orderOf } from '../lib/deliver.ts'
import type { Stage } from '../lib/stage.ts'
import type { LoadPlan } from '../load.ts'
import type { Figures, Workload } from './workload.ts'

type Started = { url: string; operatorUrl?: string; operatorToken?: string; secret?: string; partnerId?: string }

const event = (partnerId: string) =>
  JSON.stringify({ partner_id: partnerId, id: 'bench-{i}', action: 'order-closed', order: orderOf('bench-{i}') })

export function httpWorkload(kind: 'get-partner' | 'publish-http', count: number, rounds: number): Workload {
  return {
    name: kind,
    title: kind === 'get-partner' ? 'GET /partner, 64 callers' : 'POST /events, single events from 64 callers',
    contenders: ['bare node:http', 'partner-service'],
    rounds,
    async measure(stage, contender): Promise<Figures> {
      const server = startChild(contender === 'partner-service' ? 'contenders/service.ts' : 'contenders/bare-http.ts')
      const load = startChild('load.ts')
      try {
        const started = await server.call<Started>('start', await startArguments(stage, contender))
        const plan = kind === 'get-partner' ? getPlan(started) : publishPlan(started)
        await load.call('run', { ...plan, count: Math.ceil(count / 4) }) // warm up
        const before = await server.usage()
        const seconds = await load.call<number>('run', { ...plan, count })
        const after = await server.usage()
        return {
          rate: count / seconds,
          perCpuSecond: count / (after.cpuSeconds - before.cpuSeconds),
          peakMegabytes: after.peakMegabytes,
        }
      } finally {
        await load.stop()
        await server.stop()
      }
    },
  }
}

async function startArguments(stage: Stage, contender: string) {
  if (contender === 'partner-service') return { databaseUrl: await stage.database(), dataDir: stage.folder() }
  return { body: JSON.stringify((await import('../../src/sandbox/demo-configuration.ts')).demoConfiguration) }
}

function getPlan({ url, secret }: Started): Omit<LoadPlan, 'count'> {
  const headers = secret ? { authorization: `Bearer ${secret}` } : {}
  return { url, path: '/v1/partner', method: 'GET', headers, callers: 64, status: 200 }
}

function publishPlan({ url, operatorUrl, operatorToken, partnerId }: Started): Omit<LoadPlan, 'count'> {
  return {
    url: operatorUrl ?? url,
    path: '/operator/v1/events',
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${operatorToken ?? 'none'}` },
    body: event(partnerId ?? 'ptr_none'),
    callers: 64,
    status: 201,
  }
}
