// Connections to PostgreSQL cut exactly at a COMMIT, before it reaches the server and after the server answered it: 24 commits of
// publications and 24 of settled attempts, while many publish. Costs about 40 s.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { checkStory } from '../support/checker.ts'
import { startPublishing, subscribe } from '../support/checker-publishers.ts'
import { createRandom } from '../support/checker-random.ts'
import { createDatabase } from '../support/database.ts'
import { freePort } from '../support/postgres.ts'
import { startReceiver } from '../support/receiver.ts'
import { spawnService } from '../support/service.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'

const cuts = 24

test('a commit whose answer got lost is 503, a retry with the same id is safe, and nothing is sent twice for it', async (t) => {
  const random = createRandom('commits')
  const database = await createDatabase('postgres')
  t.after(database.remove)
  const direct = new URL(database.environment.DATABASE_URL!)
  const proxy = await startTcpProxy(t, Number(direct.port))
  const receiver = await startReceiver(t, { delayMs: [0, 50], failShare: 0.1 })
  const service = await spawnService(database, {
    DATABASE_URL: proxy.url(direct.pathname.slice(1)),
    OPERATOR_PORT: String(await freePort()),
    WEBHOOK_RETRY_SCHEDULE: Array(20).fill('200ms').join(','),
  })
  t.after(service.kill)
  const actions = ['order-closed', 'incoming-funds'] as const
  const publishing = startPublishing({
    operatorUrl: service.operatorUrl,
    token: service.operatorToken,
    partnerId: await subscribe(service, receiver, actions, 2),
    actions,
    random,
    publishers: 10,
    pauseMs: 60,
  })
  for (let i = 0; i < cuts; i++) {
    const moment = i % 2 === 0 ? 'before' : 'after'
    await Promise.all([
      proxy.cutCommit('insert into publications', moment),
      proxy.cutCommit('insert into attempts', moment),
    ])
    await sleep(random.between(0, 300))
    if (i % 6 === 5) proxy.cutAll() // and now and then everything at once, wherever it is
  }
  await publishing.stop()
  assert.ok(publishing.maybes() >= cuts, 'every cut of a publication was told as unknown')
  assert.equal(service.child.exitCode, null, `the service runs on:\n${service.log().slice(-2_000)}`)
  // Settling is written again until it is known to be written: no attempt is made twice for it.
  const verdict = await checkStory({ databaseUrl: direct.href, receiver, told: publishing.told, faults: [] })
  const { attempts, ...figures } = verdict
  t.diagnostic(JSON.stringify({ cuts, publications: publishing.told.size, maybes: publishing.maybes(), ...figures }))
})
