// Workers killed with -9 at random moments while they deliver, and replaced: 20 kills, one to three at a time or all at once. The
// endpoint takes up to 300 ms and fails now and then. Costs about 60 s.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { assertLastSenderSettled, checkStory, type Fault } from '../support/checker.ts'
import { startPublishing, subscribe } from '../support/checker-publishers.ts'
import { createRandom } from '../support/checker-random.ts'
import { startFleet } from '../support/checker-workers.ts'
import { startReceiver } from '../support/receiver.ts'

const workers = 5
const kills = 20

test('what a killed worker had under way is delivered by the next, and only that is sent again', async (t) => {
  const random = createRandom('delivery')
  const receiver = await startReceiver(t, { delayMs: [0, 300], failShare: 0.1 })
  const fleet = await startFleet(t, workers, { WEBHOOK_RETRY_SCHEDULE: Array(20).fill('300ms').join(',') })
  const actions = ['order-closed', 'incoming-funds', 'customer-state-changed', 'order-updated'] as const
  const publishing = startPublishing({
    operatorUrl: fleet.api.operatorUrl,
    token: fleet.api.operatorToken,
    partnerId: await subscribe(fleet.api, receiver, actions, 4),
    actions,
    random,
    publishers: 4,
    pauseMs: 200,
  })
  const faults: Fault[] = []
  for (let killed = 0, round = 0; killed < kills; round++) {
    await sleep(random.between(500, 4_000))
    const victims = fleet.workers.splice(0, round % 4 === 3 ? workers : random.between(1, 3))
    const from = Date.now()
    await Promise.all(victims.map((worker) => worker.kill()))
    faults.push({ from, until: Date.now() })
    killed += victims.length
    await sleep(random.between(0, 500))
    fleet.workers.push(...(await Promise.all(victims.map(fleet.startWorker))))
  }
  await publishing.stop()
  assert.equal(publishing.maybes(), 0, 'publishers noticed nothing')
  const verdict = await checkStory({ ...fleet, receiver, told: publishing.told, faults })
  assertLastSenderSettled(verdict.attempts)
  assert.ok(verdict.repeated > 0, 'some attempts were hit')
  const { attempts, ...figures } = verdict
  t.diagnostic(JSON.stringify({ kills, rounds: faults.length, ...figures }))
})
