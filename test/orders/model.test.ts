// Random sequences of everything that can be done to orders, by several partners and two operators, one after another and at
// once, against a simple model: 1,000 on PostgreSQL, 100 on the embedded database, which is slower and shows its tables only
// once the service has stopped. Costs about ?? s and ?? s.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createDatabase, databaseKind } from '../support/database.ts'
import { offline } from '../support/offline.ts'
import { runSequences } from '../support/order-model-runs.ts'
import { sequences } from '../support/order-model-sequences.ts'
import { createSite } from '../support/order-model-site.ts'
import { closeBooks, play, type Story, type Tally } from '../support/order-model-story.ts'
import { openTables, readBooks } from '../support/order-model-tables.ts'
import { assertReconciled } from '../support/orders.ts'
import { startTestService } from '../support/service.ts'

const onPostgres = databaseKind === 'postgres'
const count = Number(process.env.MODEL_RUNS ?? (onPostgres ? 1_000 : 100))

test('whatever is done to orders, states, balances, postings and events are those of the model', async (t) => {
  const database = await createDatabase()
  const endings: (() => Promise<void> | void)[] = []
  // On the embedded database nobody else can move the time of an order, so there it is short for all.
  const service = await startTestService(
    { after: (end: () => Promise<void> | void) => void endings.push(end) },
    { database, environment: { PAYOUT_RAIL: 'operator', ...(onPostgres ? {} : { ORDER_CONFIRMATION_WINDOW: '1s' }) } },
  )
  const stop = async () => {
    for (const end of endings.splice(0)) await end()
  }
  const tables = onPostgres ? openTables(database.environment.DATABASE_URL!) : undefined
  t.after(async () => {
    await tables?.end()
    await stop()
    await database.remove()
  })
  const lapse = onPostgres ? 'by hand' : 'at any time'
  const site = await createSite(service, { rail: 'operator', lapse, failing: false, tables })

  const tally: Tally = new Map()
  const stories: Story[] = []
  await runSequences(sequences(), { count, atOnce: onPostgres ? 6 : 8, shrink: true }, async (sequence) => {
    const story = await play(site, sequence, tally)
    if (tables) closeBooks(story, await tables.readBooks(idsOf(story)))
    stories.push(story)
  })
  const { checked } = await assertReconciled(service)
  assert.ok(checked.partners >= stories.length * 2)
  await stop()
  if (!tables) {
    await offline(database, async (db) => {
      for (const story of stories) closeBooks(story, await readBooks(db.query, idsOf(story)))
    })
  }
  const figures = Object.fromEntries([...tally].sort())
  t.diagnostic(JSON.stringify({ sequences: stories.length, ...checked, ...figures }))
})

function idsOf({ players }: Story): string[] {
  return players.map(({ id }) => id)
}
