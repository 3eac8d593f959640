// Two and four workers on one PostgreSQL, without a fault: work is shared, nothing is sent twice, an endpoint's limits hold in sum,
// also while workers join and leave; and a worker that is asked to stop finishes what it has begun. Costs about 60 s.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { checkStory, mostAtOnce } from '../support/checker.ts'
import { startPublishing, subscribe } from '../support/checker-publishers.ts'
import { createRandom } from '../support/checker-random.ts'
import { attemptsOf, type Fleet, startFleet } from '../support/checker-workers.ts'
import { eventually } from '../support/endpoint.ts'
import { type Arrival, type Receiver, startReceiver } from '../support/receiver.ts'

const actions = ['order-closed', 'incoming-funds', 'customer-state-changed'] as const
const limited = 'order-updated'
const perSecond = 10
const mostConcurrency = 50

async function publishFor(fleet: Fleet, receiver: Receiver, name: string, alsoLimited = false) {
  const partnerId = await subscribe(fleet.api, receiver, actions, 15)
  if (alsoLimited) await subscribe(fleet.api, receiver, [limited], 1, { rate_limit_per_second: perSecond })
  return startPublishing({
    operatorUrl: fleet.api.operatorUrl,
    token: fleet.api.operatorToken,
    partnerId,
    actions: alsoLimited ? [...actions, limited] : actions,
    random: createRandom(name),
    publishers: 8,
    pauseMs: 80,
  })
}

// However the seconds are laid: in any of them no more than the rate, the bucket's burst of one, and what a busy machine bunches up.
function mostInOneSecond(arrivals: readonly Arrival[]): number {
  const times = arrivals.map(({ at }) => at).sort((a, b) => a - b)
  return Math.max(...times.map((from, i) => times.filter((at, j) => j >= i && at < from + 1_000).length))
}

for (const count of [2, 4]) {
  test(`${count} workers share the work, send nothing twice, and hold an endpoint's limits in sum`, async (t) => {
    const receiver = await startReceiver(t, { delayMs: [0, 100] })
    const fleet = await startFleet(t, count)
    const publishing = await publishFor(fleet, receiver, `${count} workers`, true)
    await sleep(6_000)
    await publishing.stop()
    const { attempts, ...figures } = await checkStory({ ...fleet, receiver, told: publishing.told, faults: [] })
    assert.equal(figures.repeated, 0)
    const shares = await Promise.all(fleet.workers.map(attemptsOf))
    assert.equal(
      shares.reduce((sum, share) => sum + share),
      attempts.length,
    )
    for (const share of shares) assert.ok(share > 0, `each worker did some: ${shares}`)
    const byPath = Map.groupBy(await receiver.arrivals(), ({ path }) => path)
    const atOnce = Math.max(...[...byPath.values()].map(mostAtOnce))
    assert.ok(atOnce <= mostConcurrency, `at most ${mostConcurrency} at once to one endpoint, not ${atOnce}`)
    const slow = byPath.get(`/${limited}/0`)!
    assert.ok(mostInOneSecond(slow) <= 2 * perSecond, `${mostInOneSecond(slow)} in one second`)
    const seconds = (slow.at(-1)!.at - slow[0]!.at) / 1_000
    assert.ok(slow.length <= perSecond * (seconds + 1) + 1, `${slow.length} in ${seconds} s`)
    t.diagnostic(JSON.stringify({ count, shares, atOnce, limited: slow.length, seconds, ...figures }))
  })
}

test('workers that join and leave in the middle lose nothing and send nothing twice', async (t) => {
  const receiver = await startReceiver(t, { delayMs: [50, 400] })
  const fleet = await startFleet(t, 2)
  const publishing = await publishFor(fleet, receiver, 'join and leave')
  for (let i = 0; i < 3; i++) {
    await sleep(3_000)
    await fleet.startWorker()
    await sleep(3_000)
    assert.equal(await fleet.workers.shift()!.stop(), 0)
    fleet.workers.push(await fleet.startWorker())
  }
  await publishing.stop()
  const { attempts, ...figures } = await checkStory({ ...fleet, receiver, told: publishing.told, faults: [] })
  assert.equal(figures.repeated, 0)
  t.diagnostic(JSON.stringify(figures))
})

test('a worker that is asked to stop finishes every attempt it has begun, begins none, and exits with 0', async (t) => {
  const receiver = await startReceiver(t, { delayMs: [1_500, 2_500] })
  const fleet = await startFleet(t, 1)
  const publishing = await publishFor(fleet, receiver, 'drain')
  await eventually(
    async () => (await receiver.arrivals()).filter(({ endedAt }) => endedAt === null).length >= 10,
    'attempts under way',
  )
  const worker = fleet.workers.shift()!
  const code = await worker.stop()
  assert.equal(code, 0, worker.log().slice(-2_000))
  const before = (await receiver.arrivals()).length
  assert.deepEqual(
    (await receiver.arrivals()).filter(({ status }) => status !== 200),
    [],
    'every answer was waited for',
  )
  await sleep(1_000)
  assert.equal((await receiver.arrivals()).length, before, 'nobody sends when nobody works')
  fleet.workers.push(await fleet.startWorker())
  await publishing.stop()
  await receiver.behave({})
  const { attempts, ...figures } = await checkStory({ ...fleet, receiver, told: publishing.told, faults: [] })
  assert.equal(figures.repeated, 0)
  t.diagnostic(JSON.stringify({ finished: before, ...figures }))
})
