// Workers stopped (SIGSTOP) for longer than their heartbeat allows and then continued (SIGCONT), 20 times, up to four of five at
// once, always with something under way. Costs about 110 s.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { checkStory, type Fault, type SettledAttempt } from '../support/checker.ts'
import { startPublishing, subscribe } from '../support/checker-publishers.ts'
import { createRandom } from '../support/checker-random.ts'
import { startFleet } from '../support/checker-workers.ts'
import type { Arrival } from '../support/receiver.ts'
import { startReceiver } from '../support/receiver.ts'
import { type Senders, watchSenders } from '../support/receiver-senders.ts'

const stopsOfEach = 5
const repeatDelayMs = 4_000

interface Pause extends Fault {
  readonly pid: number
  readonly inFlight: number
}

test('a worker that was paused settles nothing that another has taken', async (t) => {
  const random = createRandom('pause')
  // What is sent again is answered late: it is still under way when the paused worker comes back with the answer it has.
  const receiver = await startReceiver(t, { delayMs: [100, 900], repeatDelayMs })
  const fleet = await startFleet(t, 5, { WEBHOOK_RETRY_SCHEDULE: Array(20).fill('500ms').join(',') })
  const senders = watchSenders(t, receiver.port, () => fleet.workers.map((worker) => worker.child.pid!))
  const actions = ['order-closed', 'incoming-funds', 'customer-state-changed', 'order-updated'] as const
  const publishing = startPublishing({
    operatorUrl: fleet.api.operatorUrl,
    token: fleet.api.operatorToken,
    partnerId: await subscribe(fleet.api, receiver, actions, 10),
    actions,
    random,
    publishers: 2,
    pauseMs: 250,
  })
  const underWay = async (pid: number) =>
    (await receiver.arrivals()).filter((each) => each.endedAt === null && senders.of(each) === pid).length
  const pauses: Pause[] = []
  const pauseNowAndThen = async (pid: number) => {
    for (let i = 0; i < stopsOfEach; i++) {
      await sleep(random.between(3_500, 7_000))
      const from = Date.now()
      process.kill(pid, 'SIGSTOP')
      senders.look()
      const inFlight = await underWay(pid)
      await sleep(random.between(10_500, 12_500))
      process.kill(pid, 'SIGCONT')
      pauses.push({ pid, from, until: Date.now(), inFlight })
    }
  }
  await Promise.all(fleet.workers.slice(1).map(({ child }) => pauseNowAndThen(child.pid!)))
  await publishing.stop()

  const verdict = await checkStory({ ...fleet, receiver, told: publishing.told, faults: pauses })
  const { attempts, ...figures } = verdict
  const taken = attempts.filter(({ arrivals }) => new Set(arrivals.map(senders.of)).size > 1)
  assert.deepEqual(
    taken.filter((attempt) => settledByAnOutdatedSender(attempt, senders, pauses)),
    [],
  )
  const log = fleet.workers.map((worker) => worker.log()).join('')
  const fenced = log.split('this worker was taken for dead').length - 1
  const inFlight = pauses.reduce((sum, pause) => sum + pause.inFlight, 0)
  t.diagnostic(JSON.stringify({ pauses: pauses.length, fenced, inFlight, takenByAnother: taken.length, ...figures }))
  assert.ok(taken.length > 0, 'some attempts were taken by another worker')
  assert.ok(verdict.repeated <= inFlight + pauses.length * 5, 'duplicates stay within what was in flight')
})

// Whoever sent an attempt last has taken it from those before: only the last may settle it. What a worker sends in the moment it
// goes on again does not count: that was begun before the pause, when the attempt was its own.
function settledByAnOutdatedSender(
  { arrivals, settled }: SettledAttempt,
  senders: Senders,
  pauses: readonly Pause[],
): boolean {
  const isTail = (arrival: Arrival) =>
    pauses.some(({ pid, until }) => pid === senders.of(arrival) && Math.abs(arrival.at - until) < 1_000)
  return arrivals.some(
    (each) => each.number > settled.number && senders.of(each) !== senders.of(settled) && !isTail(each),
  )
}
