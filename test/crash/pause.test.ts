// Workers stopped (SIGSTOP) for longer than their heartbeat allows and then continued (SIGCONT): seven of eight, three times each,
// any number of them at once, each with something under way. Costs about 70 s.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { assertNone, checkStory, type SettledAttempt } from '../support/checker.ts'
import { startPublishing, subscribe } from '../support/checker-publishers.ts'
import { createRandom } from '../support/checker-random.ts'
import { startFleet } from '../support/checker-workers.ts'
import { type Arrival, startReceiver } from '../support/receiver.ts'
import { type Senders, watchSenders } from '../support/receiver-senders.ts'

const workers = 8
const stopsOfEach = 3
const repeatDelayMs = 4_000

interface Pause {
  readonly pid: number
  readonly from: number
  readonly until: number
  readonly inFlight: number
}

test('a worker that was paused settles nothing that another has taken', async (t) => {
  const random = createRandom('pause')
  // What is sent again is answered late: it is still under way when the paused worker comes back with the answer it has.
  const receiver = await startReceiver(t, { delayMs: [100, 900], repeatDelayMs })
  const fleet = await startFleet(t, workers, { WEBHOOK_RETRY_SCHEDULE: Array(20).fill('500ms').join(',') })
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
      await sleep(random.between(500, 4_000))
      while ((await underWay(pid)) === 0) await sleep(50)
      process.kill(pid, 'SIGSTOP')
      const from = Date.now()
      senders.look()
      const inFlight = await underWay(pid)
      await sleep(random.between(10_500, 12_500))
      const until = Date.now()
      process.kill(pid, 'SIGCONT')
      pauses.push({ pid, from, until, inFlight })
    }
  }
  await Promise.all(fleet.workers.slice(1).map(({ child }) => pauseNowAndThen(child.pid!)))
  await publishing.stop()

  const fenced = fleet.workers.map((worker) => worker.log().split('was taken for dead').length - 1)
  t.diagnostic(JSON.stringify({ fenced }))
  // Only what a worker had under way when it was paused is sent again.
  const faults = pauses.map(({ pid, from }) => ({
    from,
    until: from,
    hits: (arrival: Arrival) => senders.of(arrival) === pid,
  }))
  const { attempts, ...figures } = await checkStory({ ...fleet, receiver, told: publishing.told, faults })
  const taken = attempts.filter(({ arrivals }) => new Set(arrivals.map(senders.of)).size > 1)
  assert.ok(taken.length > 0, 'some attempts were taken by another worker')
  assertNone(
    taken.filter((attempt) => settledByAnOutdatedSender(attempt, senders, pauses)),
    'whoever was the last to send an attempt settled it',
  )
  t.diagnostic(JSON.stringify({ pauses: pauses.length, takenByAnother: taken.length, ...figures }))
  assert.equal(fenced[0], 0, 'the worker that was never paused was never taken for dead')
})

// Begun before a pause, when the attempt was the sender's own, and arrived when the sender went on again.
function isTail(arrival: Arrival, senders: Senders, pauses: readonly Pause[]): boolean {
  const sender = senders.of(arrival)
  return pauses.some(({ pid, from, until }) => pid === sender && arrival.signedAt <= from && arrival.at >= until)
}

// Whoever sent an attempt last has taken it from those before: only the last may settle it.
function settledByAnOutdatedSender(
  { arrivals, settled }: SettledAttempt,
  senders: Senders,
  pauses: readonly Pause[],
): boolean {
  const isLater = (each: Arrival) => each.number > settled.number && senders.of(each) !== senders.of(settled)
  return arrivals.some((each) => isLater(each) && !isTail(each, senders, pauses))
}
