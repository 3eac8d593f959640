// The model of orders, with the whole service killed with -9 at random moments, 25 times, each in the middle of several
// sequences: with the operator's rail and with the sandbox rail, which goes on where it was. Costs 65 to 95 s.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { createRandom } from '../support/checker-random.ts'
import { createDatabase } from '../support/database.ts'
import { sequences } from '../support/order-model-sequences.ts'
import { createSite } from '../support/order-model-site.ts'
import { closeBooks, play, type Story, type Tally } from '../support/order-model-story.ts'
import { openTables } from '../support/order-model-tables.ts'
import { assertReconciled } from '../support/orders.ts'
import { freePort } from '../support/postgres.ts'
import { type ServiceProcess, spawnService } from '../support/service.ts'

const atOnce = 12
const longestLifeMs = 1_500 // the rail may keep all sequences waiting

for (const { rail, kills } of [
  { rail: 'operator', kills: 13 },
  { rail: 'sandbox', kills: 12 },
] as const) {
  test(`whenever the service is killed, an order is paid once or given back: the ${rail} rail`, async (t) => {
    const random = createRandom(`orders-kill, ${rail} rail`)
    const database = await createDatabase('postgres')
    const tables = openTables(database.environment.DATABASE_URL!)
    const environment = {
      PORT: String(await freePort()),
      OPERATOR_PORT: String(await freePort()),
      PAYOUT_RAIL: rail,
    }
    let service: ServiceProcess = await spawnService(database, environment)
    t.after(async () => {
      await service.kill()
      await tables.end()
      await database.remove()
    })
    const site = await createSite(service, { rail, lapse: 'by hand', failing: true, tables })

    const stories: Story[] = []
    const waiting = fc.sample(sequences(), { numRuns: 2_000, seed: random.between(0, 2 ** 31) })
    const tally: Tally = new Map()
    const answers = () => [...tally.values()].reduce((sum, count) => sum + count, 0)
    let enough = false
    let failure: unknown
    const player = async () => {
      while (!enough && failure === undefined) {
        const story = await play(site, waiting.pop()!, tally)
        closeBooks(story, await tables.readBooks(story.players.map(({ id }) => id)))
        stories.push(story)
      }
    }
    const playing = Array.from({ length: atOnce }, () =>
      player().catch((error: unknown) => {
        failure ??= error
      }),
    )
    const hit = () => stories.filter(({ lost }) => lost > 0).length
    let killed = 0
    for (; (killed < kills || hit() < kills) && failure === undefined; killed++) {
      const after = answers() + random.between(0, 60)
      for (const until = Date.now() + longestLifeMs; answers() < after && Date.now() < until; ) await sleep(2)
      await sleep(random.between(0, 20))
      await service.kill()
      service = await spawnService(database, environment)
    }
    enough = true
    await Promise.all(playing)
    if (failure !== undefined) throw failure
    assert.ok(hit() >= kills)
    await assertReconciled(service)
    const lost = stories.reduce((sum, story) => sum + story.lost, 0)
    t.diagnostic(JSON.stringify({ rail, killed, sequences: stories.length, hit: hit(), lost }))
  })
}
