// Two and four workers on one PostgreSQL, without a fault: work is shared, nothing is sent twice, and what is promised to an endpoint (at
// most 50 at once, its own rate limit) holds in sum, also while workers join and leave. Costs about 60 s.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { checkStory, mostAtOnce } from '../support/checker.ts'
import { startPublishing, subscribe } from '../support/checker-publishers.ts'
import { createRandom } from '../support/checker-random.ts'
import { attemptsOf, type Fleet, startFleet } from '../support/checker-workers.ts'
import { publishMany } from '../support/partner.ts'
import { type Arrival, type Receiver, startReceiver } from '../support/receiver.ts'

const actions = ['order-closed', 'incoming-funds', 'customer-state-changed'] as const
const busy = 'order-updated'
const limited = 'customer-requirement-rejected'
const perSecond = 20
const burst = 2
const bunchedSeconds = 2 // what a busy machine may hold up on the way to the endpoint, and then let through at once
const mostConcurrency = 50

async function startPublishers(fleet: Fleet, receiver: Receiver, name: string) {
  const random = createRandom(name)
  const partnerId = await subscribe(fleet.api, receiver, actions, 15)
  const { operatorUrl, operatorToken: token } = fleet.api
  const publishing = startPublishing({ operatorUrl, token, partnerId, actions, random, publishers: 4, pauseMs: 200 })
  return { random, partnerId, publishing }
}

// In any stretch of time no more than the rate allows.
function assertRateHeld(arrivals: readonly Arrival[]): void {
  const times = arrivals.map(({ at }) => at).sort((a, b) => a - b)
  for (const [i, from] of times.entries()) {
    for (let j = i; j < times.length; j++) {
      const seconds = (times[j]! - from) / 1_000
      const most = perSecond * (seconds + bunchedSeconds) + burst
      assert.ok(j - i + 1 <= most, `${j - i + 1} arrivals in ${seconds} s, and ${perSecond} a second are allowed`)
    }
  }
}

for (const count of [2, 4]) {
  test(`${count} workers share the work, send nothing twice, and hold an endpoint's limits in sum`, async (t) => {
    const receiver = await startReceiver(t, { delayMs: [50, 150] })
    const fleet = await startFleet(t, count)
    await subscribe(fleet.api, receiver, [busy])
    await subscribe(fleet.api, receiver, [limited], 1, { rate_limit_per_second: perSecond })
    const { partnerId, publishing } = await startPublishers(fleet, receiver, `${count} workers`)
    const ids = [
      ...(await publishMany(fleet.api, partnerId, 2_000, busy)), // enough for its concurrency to grow to the limit
      ...(await publishMany(fleet.api, partnerId, 8 * perSecond, limited)),
    ]
    await sleep(6_000)
    await publishing.stop()
    const told = new Map([...publishing.told, ['at once', ids]])
    const { attempts, ...figures } = await checkStory({ ...fleet, receiver, told, faults: [] })
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
    assertRateHeld(byPath.get(`/${limited}/0`)!)
    t.diagnostic(JSON.stringify({ count, shares, atOnce, ...figures }))
  })
}

test('workers that join and leave in the middle lose nothing, send nothing twice and keep to the limits', async (t) => {
  const receiver = await startReceiver(t, { delayMs: [50, 250] })
  const fleet = await startFleet(t, 2)
  await subscribe(fleet.api, receiver, [limited], 3, { rate_limit_per_second: perSecond })
  const { random, partnerId, publishing } = await startPublishers(fleet, receiver, 'join and leave')
  const ids = await publishMany(fleet.api, partnerId, 15 * perSecond, limited)
  for (let round = 0; round < 4; round++) {
    await sleep(random.between(1_500, 2_500))
    fleet.workers.push(await fleet.startWorker())
    await sleep(random.between(1_500, 2_500))
    const leaver = fleet.workers.shift()!
    assert.equal(await leaver.stop(), 0, leaver.log().slice(-2_000))
  }
  await publishing.stop()
  const told = new Map([...publishing.told, ['at once', ids]])
  const { attempts, ...figures } = await checkStory({ ...fleet, receiver, told, faults: [] })
  assert.equal(figures.repeated, 0)
  const byPath = Map.groupBy(await receiver.arrivals(), ({ path }) => path)
  for (let i = 0; i < 3; i++) assertRateHeld(byPath.get(`/${limited}/${i}`)!)
  t.diagnostic(JSON.stringify(figures))
})
