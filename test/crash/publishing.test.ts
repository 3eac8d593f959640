// The service killed with -9 at random moments while many publish, and started again: 20 times, and 5 times more before it was
// ready. Costs about 70 s.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { assertLastSenderSettled, checkStory, type Fault } from '../support/checker.ts'
import { startPublishing, subscribe } from '../support/checker-publishers.ts'
import { createRandom } from '../support/checker-random.ts'
import { createDatabase } from '../support/database.ts'
import { freePort } from '../support/postgres.ts'
import { startReceiver } from '../support/receiver.ts'
import { type ServiceProcess, spawnService } from '../support/service.ts'

const rounds = 20

test('a publication that was acknowledged survives any kill -9 of the service, and none happens twice', async (t) => {
  const random = createRandom('publishing')
  const database = await createDatabase('postgres')
  after(database.remove)
  const receiver = await startReceiver(t, { delayMs: [0, 20] })
  const environment = {
    OPERATOR_PORT: String(await freePort()),
    WEBHOOK_RETRY_SCHEDULE: Array(20).fill('200ms').join(','),
  }
  let service: ServiceProcess = await spawnService(database, environment)
  after(() => service.kill())
  const actions = ['order-closed', 'incoming-funds'] as const
  const partnerId = await subscribe(service, receiver, actions)
  const publishing = startPublishing({
    operatorUrl: service.operatorUrl,
    token: service.operatorToken,
    partnerId,
    actions,
    random,
    publishers: 12,
    pauseMs: 80,
  })
  const faults: Fault[] = []
  for (let round = 1; round <= rounds; round++) {
    await sleep(random.between(0, 1_200))
    const from = Date.now()
    await service.kill()
    faults.push({ from, until: Date.now() })
    if (round % 4 === 0) {
      // Once more while it starts.
      await spawnService(database, environment, (child) => {
        setTimeout(() => child.kill('SIGKILL'), random.between(100, 1_500))
      })
        .then((started) => started.kill())
        .catch(() => {})
      faults.push({ from, until: Date.now() })
    }
    service = await spawnService(database, environment)
  }
  await publishing.stop()
  assert.ok(publishing.maybes() > 0, 'some publications were hit')
  const verdict = await checkStory({
    databaseUrl: database.environment.DATABASE_URL!,
    receiver,
    told: publishing.told,
    faults,
  })
  assertLastSenderSettled(verdict.attempts)
  const { attempts, ...figures } = verdict
  t.diagnostic(JSON.stringify({ rounds, publications: publishing.told.size, maybes: publishing.maybes(), ...figures }))
})
