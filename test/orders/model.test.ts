// Random sequences of everything that can be done to orders, by several partners and two operators, one after another and at
// once, against a simple model: 1,000 on PostgreSQL, 48 on the embedded database, which is slower and shows its tables only
// once the service has stopped; and some with the sandbox rail. Costs 105 s on PostgreSQL and 30 s on the embedded one when
// the machine is busy with other things.
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
const given = process.env.MODEL_RUNS

// What happens at least 25 times in 1,000 sequences; a test that never came there would prove little.
const usual = [
  ...['create 201', 'create 201 again', 'create conflict', 'create invalid_destination', 'create invalid_parameters'],
  ...[
    'confirm 200',
    'confirm insufficient_funds',
    'confirm invalid_order_state',
    'confirm not_found',
    'confirm conflict',
  ],
  ...['cancel 200', 'cancel invalid_order_state', 'lapse 200', 'withdraw 200', 'withdraw invalid_order_state'],
  ...['take 200', 'take invalid_order_state', 'release 200', 'release invalid_order_state', 'complete 200', 'fail 200'],
  ...['complete invalid_order_state', 'fail invalid_order_state', 'return 201', 'return invalid_order_state'],
  ...['topUp 201', 'forget 204', 'forget not_found'],
]

for (const { rail, count, atOnce } of [
  { rail: 'operator', count: Number(given ?? (onPostgres ? 1_000 : 48)), atOnce: onPostgres ? 6 : 8 },
  { rail: 'sandbox', count: Number(given ?? (onPostgres ? 60 : 12)), atOnce: onPostgres ? 20 : 12 }, // which mostly wait
] as const) {
  test(`whatever is done to orders, states, balances, postings and events are those of the model: the ${rail} rail`, async (t) => {
    const database = await createDatabase()
    const endings: (() => Promise<void> | void)[] = []
    // On the embedded database nobody else can move the time of an order, so there it is short for all.
    const window: Record<string, string> = onPostgres ? {} : { ORDER_CONFIRMATION_WINDOW: '1s' }
    const service = await startTestService(
      { after: (end: () => Promise<void> | void) => void endings.push(end) },
      { database, environment: { PAYOUT_RAIL: rail, ...window } },
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
    const site = await createSite(service, { rail, lapse, failing: false, tables })

    const tally: Tally = new Map()
    const stories: Story[] = []
    await runSequences(sequences(), { count, atOnce, shrink: true }, async (sequence) => {
      const story = await play(site, sequence, tally)
      if (tables) closeBooks(story, await tables.readBooks(idsOf(story)))
      stories.push(story)
    })
    const { checked } = await assertReconciled(service)
    assert.ok(checked.partners >= stories.length * 2, 'every partner was reconciled')
    await stop()
    if (!tables) {
      await offline(database, async (db) => {
        for (const story of stories) closeBooks(story, await readBooks(db.query, idsOf(story)))
      })
    }
    const figures = Object.fromEntries([...tally].sort())
    t.diagnostic(JSON.stringify({ rail, sequences: stories.length, ...checked, ...figures }))
    if (rail === 'operator' && count >= 1_000) {
      const never = usual.filter((outcome) => !tally.has(outcome))
      assert.deepEqual(never, [], 'all of this happened')
    }
  })
}

function idsOf({ players }: Story): string[] {
  return players.map(({ id }) => id)
}
