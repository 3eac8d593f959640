// The model of orders, with connections to PostgreSQL cut all the while: exactly at a COMMIT, before it reaches the server and
// after the server answered it, and all at once wherever they are. Plays until 100 sequences were hit. Costs 20 to 60 s.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createRandom } from '../support/checker-random.ts'
import { createDatabase } from '../support/database.ts'
import { runSequences } from '../support/order-model-runs.ts'
import { sequences } from '../support/order-model-sequences.ts'
import { createSite } from '../support/order-model-site.ts'
import { closeBooks, play, type Story } from '../support/order-model-story.ts'
import { openTables } from '../support/order-model-tables.ts'
import { assertReconciled } from '../support/orders.ts'
import { startTestService } from '../support/service.ts'
import { startTcpProxy } from '../support/tcp-proxy.ts'

const wanted = 100
const commits = ['update orders', 'insert into orders', 'insert into postings', 'insert into idempotency_keys'] as const

test('an order call whose answer got lost happened once or not at all: repeated, it changes nothing twice', async (t) => {
  const random = createRandom('orders-cuts')
  const database = await createDatabase('postgres')
  const direct = new URL(database.environment.DATABASE_URL!)
  const proxy = await startTcpProxy(t, direct.href)
  const service = await startTestService(t, {
    database,
    environment: { DATABASE_URL: proxy.url(direct.pathname.slice(1)), PAYOUT_RAIL: 'operator' },
  })
  const tables = openTables(direct.href)
  t.after(async () => {
    await tables.end()
    await database.remove()
  })
  const site = await createSite(service, { rail: 'operator', lapse: 'by hand', failing: true, tables })

  const cut = { before: 0, after: 0, all: 0 }
  const stopping = new AbortController()
  const cutting = (async () => {
    while (!stopping.signal.aborted) {
      await sleep(random.between(0, 60))
      if (random.chance(0.2)) {
        proxy.cutAll()
        cut.all++
        continue
      }
      const moment = random.pick(['before', 'after'] as const)
      const never = new Promise((resolve) => stopping.signal.addEventListener('abort', resolve, { once: true }))
      await Promise.race([proxy.cutCommit(random.pick(commits), moment), never])
      cut[moment]++
    }
  })()
  const stories: Story[] = []
  const hit = () => stories.filter(({ lost }) => lost > 0).length
  try {
    for (let batches = 1; hit() < wanted; batches++) {
      await runSequences(sequences(), { count: 24, atOnce: 4, shrink: false }, async (sequence) => {
        const story = await play(site, sequence)
        closeBooks(story, await tables.readBooks(story.players.map(({ id }) => id)))
        stories.push(story)
      })
      assert.ok(hit() >= batches, 'connections are cut')
    }
  } finally {
    stopping.abort()
    await cutting
  }
  await assertReconciled(service)
  const lost = stories.reduce((sum, story) => sum + story.lost, 0)
  t.diagnostic(JSON.stringify({ sequences: stories.length, hit: hit(), lost, ...cut }))
})
