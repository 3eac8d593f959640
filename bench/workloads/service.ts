// The service as a whole, without a rival: how fast it starts, what it needs when idle, how fast orders are created and confirmed,
// and how long a search through a long history takes.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { type Child, startChild } from '../lib/child.ts'
import { cpuSecondsOf } from '../lib/cpu.ts'
import type { Stage } from '../lib/stage.ts'
import { latencyOf } from '../lib/stats.ts'
import type { Figures, Workload } from './workload.ts'

export function serviceWorkload(history: number, rounds: number): Workload {
  return {
    name: 'service',
    title: 'The service as a whole',
    contenders: ['start-up and idle, embedded', 'orders', 'search'],
    rounds,
    measure(stage, contender) {
      if (contender === 'orders') return withService(stage, orders)
      if (contender === 'search') return withService(stage, (started, url) => search(started, url, history))
      return startAndIdle(stage)
    },
  }
}

interface Started {
  readonly url: string
  readonly secret: string
  readonly partnerId: string
}

async function withService(
  stage: Stage,
  work: (started: Started, databaseUrl: string, server: Child) => Promise<Figures>,
): Promise<Figures> {
  const server = startChild('contenders/service.ts')
  try {
    const databaseUrl = await stage.database()
    const started = await server.call<Started>('start', { databaseUrl, dataDir: stage.folder() })
    return await work(started, databaseUrl, server)
  } finally {
    await server.stop()
  }
}

async function orders({ url, secret }: Started, _databaseUrl: string, server: Child): Promise<Figures> {
  const post = async (path: string, body?: object) => {
    const reply = await fetch(`${url}/v1${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, ...(body ? { 'content-type': 'application/json' } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    if (!reply.ok) throw new Error(`${path}: ${await reply.text()}`)
    return (await reply.json()) as { id: string }
  }
  await post('/sandbox/top-ups', { currency: 'ARS', amount: '1000000000.00' })
  const fields = { cbu: '2850590940090418135201', holder_name: 'Ada Lovelace' }
  const { id: instruction_id } = await post('/partner/outgoing-instructions', {
    type: 'ar_cbu',
    currency: 'ARS',
    fields,
  })
  const withdrawal = {
    currency: 'ARS',
    amount: '1000.02',
    type: 'outgoing_instruction',
    outgoing_instruction: { instruction_id },
  }
  const times: number[] = []
  const before = await server.usage()
  const startedAt = performance.now()
  const count = 2_000
  let next = 0
  await Promise.all(
    Array.from({ length: 16 }, async () => {
      while (next++ < count) {
        const at = performance.now()
        const { id } = await post('/partner/orders', { operation: 'withdrawal', withdrawal })
        await post(`/partner/orders/${id}/confirm`)
        times.push(performance.now() - at)
      }
    }),
  )
  const seconds = (performance.now() - startedAt) / 1_000
  const after = await server.usage()
  return { rate: count / seconds, perCpuSecond: count / (after.cpuSeconds - before.cpuSeconds), ...latencyOf(times) }
}

async function search({ url, secret, partnerId }: Started, databaseUrl: string, history: number): Promise<Figures> {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 1 })
  // A history made by one statement, spread over twenty endpoints and thirty days, one in a hundred in error.
  await pool.query(
    `insert into events (partner_id, id, subscription_id, publication_id, action, resource_id, payload, state, due_at, created_at)
     select $1, 'evt_' || lpad(to_hex(i), 26, '0'), 'sub_' || i % 20, 'pub_' || i, 'order-closed', 'order-' || i % 5000, '{}',
       case when i % 100 = 0 then 'error' else 'completed' end, now(), now() - (($2 - i) * interval '30 days' / $2)
     from generate_series(1, $2::int) i`,
    [partnerId, history],
  )
  await pool.query('analyze events')
  await pool.end()
  const times: Record<string, number[]> = { newest: [], error: [], resource: [], subscription: [] }
  const queries: Record<string, () => string> = {
    newest: () => '',
    error: () => 'state=error',
    resource: () => `resource_id=order-${Math.floor(Math.random() * 5_000)}`,
    subscription: () => `subscription_id=sub_${Math.floor(Math.random() * 20)}&state=error`,
  }
  for (let i = 0; i < 200; i++) {
    for (const [name, query] of Object.entries(queries)) {
      const at = performance.now()
      const reply = await fetch(`${url}/v1/webhooks/events?limit=50&${query()}`, {
        headers: { authorization: `Bearer ${secret}` },
      })
      if (reply.status !== 200) throw new Error(await reply.text())
      await reply.arrayBuffer()
      times[name]!.push(performance.now() - at)
    }
  }
  return Object.fromEntries(Object.entries(times).map(([name, ms]) => [`${name}P50`, latencyOf(ms).p50]))
}

async function startAndIdle(stage: Stage): Promise<Figures> {
  const at = performance.now()
  const child = spawn(process.execPath, ['src/main.ts', 'serve'], {
    env: { PATH: process.env.PATH ?? '', PORT: '0', OPERATOR_PORT: '0', DATA_DIR: stage.folder() },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let log = ''
  child.stderr.on('data', (chunk: Buffer) => (log += chunk))
  while (!log.includes('"msg":"ready"')) await sleep(5)
  const startMs = performance.now() - at
  await sleep(3_000)
  const before = cpuSecondsOf(child.pid!)
  await sleep(10_000)
  const idleCpuPercent = ((cpuSecondsOf(child.pid!) - before) / 10) * 100
  const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
  const idleMegabytes = Number(/VmRSS:\s+(\d+)/.exec(status)![1]) / 1_024
  child.kill('SIGKILL')
  return { startMs, idleCpuPercent, idleMegabytes }
}
