// PostgreSQL killed with -9, all its processes, and started again, 20 times, while many publish and much is delivered. The service
// is never touched. Costs about 45 s.
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { checkStory } from '../support/checker.ts'
import { startPublishing, subscribe } from '../support/checker-publishers.ts'
import { createRandom } from '../support/checker-random.ts'
import { freePort, startPostgres } from '../support/postgres.ts'
import { startReceiver } from '../support/receiver.ts'
import { spawnService } from '../support/service.ts'

const rounds = 20

test('a service outlives any crash of PostgreSQL: nothing told is lost, and nothing is sent twice', async (t) => {
  const random = createRandom('postgres')
  const postgres = await startPostgres()
  t.after(postgres.remove)
  const dataDir = mkdtempSync(join(tmpdir(), 'partner-service-test-'))
  const remove = async () => rmSync(dataDir, { recursive: true })
  t.after(remove)
  const receiver = await startReceiver(t, { delayMs: [0, 300], failShare: 0.1 })
  const service = await spawnService(
    { dataDir, environment: { DATA_DIR: dataDir, DATABASE_URL: postgres.url() }, remove },
    { OPERATOR_PORT: String(await freePort()), WEBHOOK_RETRY_SCHEDULE: Array(20).fill('300ms').join(',') },
  )
  t.after(service.kill)
  const actions = ['order-closed', 'incoming-funds', 'customer-state-changed'] as const
  const publishing = startPublishing({
    operatorUrl: service.operatorUrl,
    token: service.operatorToken,
    partnerId: await subscribe(service, receiver, actions, 2),
    actions,
    random,
    publishers: 12,
    pauseMs: 150,
  })
  for (let round = 1; round <= rounds; round++) {
    await sleep(random.between(300, 2_500))
    await postgres.kill()
    await sleep(random.between(0, 1_000))
    await postgres.start()
    assert.equal(service.child.exitCode, null, `the service runs on:\n${service.log().slice(-2_000)}`)
  }
  await publishing.stop()
  assert.ok(publishing.maybes() > 0, 'some publications were hit')
  // Nobody else could have taken the lanes: even what was in flight, or waited to be settled, is not sent again.
  const verdict = await checkStory({ databaseUrl: postgres.url(), receiver, told: publishing.told, faults: [] })
  const { attempts, ...figures } = verdict
  t.diagnostic(JSON.stringify({ rounds, publications: publishing.told.size, maybes: publishing.maybes(), ...figures }))
})
