// Reconciliation: agrees on whatever the service did by itself, also while it is busy, and names partner, account, order and entry
// of each thing that was changed behind its back.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Db } from '../../src/db/db.ts'
import type { Body } from '../support/client.ts'
import { ok, orderIn } from '../support/order-states.ts'
import { assertReconciled, newOrderPartner, type OrderPartner, topUp } from '../support/orders.ts'
import { startRestartable } from '../support/restarts.ts'

const { service, meanwhile } = await startRestartable({ after }, { PAYOUT_RAIL: 'operator' })
const { operator } = service

// A partner with entries 1 to 5: funds, an order that is paid (2, 3), one that is pending (4) and one that is taken (5).
async function busyPartner() {
  const partner = await newOrderPartner(service, { funds: '5000.00' })
  const [paid, pending, processing] = [
    await orderIn(service, partner, 'completed', '1000.00'),
    await orderIn(service, partner, 'pending', '100.00'),
    await orderIn(service, partner, 'processing', '200.00'),
  ]
  const cancelled = await orderIn(service, partner, 'cancelled')
  return { partner, id: partner.id, paid, pending, processing, cancelled }
}
type Busy = Awaited<ReturnType<typeof busyPartner>>

test('a busy service reconciles at every moment', async () => {
  const { partner } = await busyPartner()
  let working = true
  const work = async () => {
    for (let i = 0; i < 8; i++) {
      await topUp(service, partner.id, '10.00')
      const { id } = await orderIn(service, partner, 'processing', '100.00')
      await ok(operator.post(`/orders/${id}/${i % 2 ? 'complete' : 'fail'}`))
      if (i % 2) await ok(operator.post(`/orders/${id}/return`))
    }
  }
  const watch = async () => {
    let looks = 0
    while (working || looks < 3) {
      await assertReconciled(service)
      looks++
    }
    return looks
  }
  const watching = watch()
  await Promise.all([work(), work()]).finally(() => (working = false))
  assert.ok((await watching) >= 3)
  const { checked } = await assertReconciled(service)
  // The demo partner with its two funds, what busyPartner() does, and 16 rounds of work, of which 8 were paid and returned.
  assert.deepEqual(checked, {
    partners: 1 + 1,
    accounts: 2 + 1,
    entries: 2 + 5 + 16 * 3 + 8,
    postings: 4 + 11 + 16 * 4 + 8 * 2 + 8 * (3 + 2),
    orders: 2 + 5 + 16 * 2 + 8,
  })
})

interface Tampering {
  readonly sql: (busy: Busy) => string[]
  // What has to be named: [currency, order (or what it is, in words), entry, beginning of the problem].
  readonly named: (busy: Busy) => [string | null, string | null, number | null, RegExp][]
}

const of = (table: string, { id }: Busy) => `${table} where partner_id = '${id}'`
const tamperings: Record<string, Tampering> = {
  'a balance': {
    sql: ({ id }) => [
      `update settlement_accounts set available = available + 1, top_ups = top_ups - 1 where partner_id = '${id}'`,
    ],
    named: () => [['ARS', null, null, /^the account says 3701\.00 \/ 300\.00 .* sum to 3700\.00 \/ 300\.00/]],
  },
  'a posting': {
    sql: ({ id }) => [
      `update postings set amount = -101 where partner_id = '${id}' and entry = 4 and account = 'available'`,
    ],
    named: ({ pending }) => [
      ['ARS', null, 4, /^the postings of the entry sum to -1\.00, not to zero/],
      ['ARS', pending.id, 4, /^the balances after the entry are /],
      ['ARS', null, null, /^the account says /],
      ['ARS', pending.id, null, /^the withdrawal is pending, but its postings sum to -101/],
    ],
  },
  'both sides of an entry': {
    sql: ({ id }) => [`update postings set amount = sign(amount) * 150 where partner_id = '${id}' and entry = 5`],
    named: ({ processing }) => [
      ['ARS', processing.id, 5, /^the balances after the entry are /],
      ['ARS', null, null, /^the account says /],
      ['ARS', processing.id, null, /^the withdrawal is processing, but its postings sum to -150 \/ 150 \/ 0 \/ 0 \/ 0/],
    ],
  },
  'a posting that is gone': {
    sql: (busy) => [`delete from ${of('postings', busy)} and entry = 3 and account = 'fees'`],
    named: ({ paid }) => [
      ['ARS', null, 3, /^the postings of the entry sum to /],
      ['ARS', null, null, /^the account says /],
      ['ARS', paid.id, null, /^the withdrawal is completed, /],
    ],
  },
  'an entry without postings': {
    sql: (busy) => [`delete from ${of('postings', busy)} and entry = 4`],
    named: ({ pending }) => [
      ['ARS', pending.id, 4, /^the entry has no postings/],
      ['ARS', null, null, /^the account says /],
      ['ARS', pending.id, null, /^the withdrawal is pending, /],
    ],
  },
  'an entry that is gone': {
    sql: (busy) => [
      `delete from ${of('postings', busy)} and entry = 4`,
      `delete from ${of('settlement_entries', busy)} and entry = 4`,
    ],
    named: ({ pending, processing }) => [
      ['ARS', processing.id, 5, /^an entry is missing before this one/],
      ['ARS', null, null, /^the account says /],
      ['ARS', pending.id, null, /^the withdrawal is pending, but its postings sum to /],
    ],
  },
  'the last entry': {
    sql: (busy) => [
      `delete from ${of('postings', busy)} and entry = 5`,
      `delete from ${of('settlement_entries', busy)} and entry = 5`,
    ],
    named: ({ processing }) => [
      ['ARS', null, null, /^the account says /],
      ['ARS', processing.id, null, /^the withdrawal is processing, /],
    ],
  },
  'the balance after an entry': {
    sql: ({ id }) => [
      `update settlement_entries set held = held + 0.000000000000000001 where partner_id = '${id}' and entry = 4`,
    ],
    named: ({ pending }) => [
      ['ARS', pending.id, 4, /^the balances after the entry are 3900\.00 and 100\.000000000000000001, but /],
    ],
  },
  'the order of an entry': {
    sql: ({ id, cancelled }) => [
      `update settlement_entries set order_id = '${cancelled.id}' where partner_id = '${id}' and entry = 4`,
    ],
    named: ({ pending, cancelled }) => [
      ['ARS', pending.id, null, /^the withdrawal is pending, but its postings sum to /],
      ['ARS', cancelled.id, null, /^the withdrawal is cancelled, but its postings sum to -100/],
    ],
  },
  'a state, as if it were paid': {
    sql: ({ pending }) => [`update orders set state = 'completed', closed_at = now() where id = '${pending.id}'`],
    named: ({ pending }) => [['ARS', pending.id, null, /^the withdrawal is completed, but its postings sum to -100/]],
  },
  'a state, as if it were not': {
    sql: ({ paid }) => [`update orders set state = 'cancelled' where id = '${paid.id}'`],
    named: ({ paid }) => [['ARS', paid.id, null, /^the withdrawal is cancelled, but its postings sum to /]],
  },
  'a state, as if it were confirmed': {
    sql: ({ cancelled }) => [`update orders set state = 'pending', closed_at = null where id = '${cancelled.id}'`],
    named: ({ cancelled }) => [['ARS', cancelled.id, null, /^the withdrawal is pending, but its postings sum to /]],
  },
  'an amount': {
    sql: ({ paid }) => [
      `update orders set amount = amount + 1, destination_amount = destination_amount + 1 where id = '${paid.id}'`,
    ],
    named: ({ paid }) => [['ARS', paid.id, null, /^the withdrawal is completed, /]],
  },
  'a fee': {
    sql: ({ paid }) => [
      `update orders set fee_amount = fee_amount - 1, destination_amount = destination_amount + 1 where id = '${paid.id}'`,
    ],
    named: ({ paid }) => [['ARS', paid.id, null, /^the withdrawal is completed, /]],
  },
  'the currency of an order': {
    sql: ({ pending }) => [`update orders set currency = 'MXN' where id = '${pending.id}'`],
    named: ({ pending }) => [
      ['MXN', pending.id, null, /^the withdrawal is pending, /],
      ['ARS', pending.id, 4, /^the entry is in ARS, its order in MXN/],
    ],
  },
  'the kind of an entry': {
    sql: ({ id }) => [`update settlement_entries set kind = 'release' where partner_id = '${id}' and entry = 4`],
    named: ({ pending }) => [['ARS', pending.id, 4, /^the entry is a release of its order, but its postings are -100/]],
  },
  'what was paid before it was returned': {
    sql: ({ paid }) => [
      `update orders set destination_amount = destination_amount - 1, fee_amount = fee_amount + 1 where id = '${paid.id}'`,
    ],
    named: ({ paid }) => [
      ['ARS', 'its return', null, /^the return of 945\.00 ARS is of an order that is completed and paid 944\.00 ARS/],
      ['ARS', paid.id, 3, /^the entry is a payout/],
    ],
  },
  'a top-up': {
    sql: ({ id }) => [
      `update orders set amount = 6000, destination_amount = 6000 where partner_id = '${id}' and operation = 'top_up'`,
    ],
    named: () => [['ARS', 'the top-up', null, /^the top_up is completed, but its postings sum to 5000\.00 /]],
  },
}

test('whatever is changed behind its back is named, with partner, account, order and entry, and nothing else is', async () => {
  const busy = new Map<string, Busy>()
  for (const name of Object.keys(tamperings)) busy.set(name, await busyPartner())
  const credits = new Map<string, string>()
  for (const [name, { partner }] of busy) credits.set(name, await creditOf(partner, 'top_up'))
  const name = 'what was paid before it was returned'
  await ok(operator.post(`/orders/${busy.get(name)!.paid.id}/return`))
  credits.set(name, await creditOf(busy.get(name)!.partner, 'withdrawal_return'))
  await assertReconciled(service)

  await meanwhile((db) =>
    tamper(
      db,
      [...busy].flatMap(([name, each]) => tamperings[name]!.sql(each)),
    ),
  )
  const { body } = await ok(operator.get('/reconciliation'))
  assert.equal(body.agrees, false)
  for (const [name, each] of busy) {
    const found: Body[] = body.discrepancies.filter((problem: Body) => problem.partner_id === each.id)
    for (const [currency, orderId, entry, problem] of tamperings[name]!.named(each)) {
      const order_id = orderId?.includes(' ') ? credits.get(name) : orderId
      const match = found.find(
        (one) =>
          one.currency === currency && one.order_id === order_id && one.entry === entry && problem.test(one.problem),
      )
      assert.ok(match, `${name}: ${currency} ${order_id} ${entry} ${problem} in ${JSON.stringify(found, null, 1)}`)
    }
  }
  const known = new Set([...busy.values()].map(({ id }) => id))
  assert.deepEqual(
    body.discrepancies.filter((problem: Body) => !known.has(problem.partner_id)),
    [],
  )
})

async function creditOf({ api }: OrderPartner, operation: string): Promise<string> {
  return (await ok(api.get(`/partner/orders?operation=${operation}`))).body.orders[0].id
}

// As somebody with all rights could: the triggers are switched off meanwhile.
async function tamper(db: Db, statements: readonly string[]): Promise<void> {
  const tables = ['settlement_entries', 'postings']
  await db.transaction(async (tx) => {
    for (const table of tables) await tx.query(`alter table ${table} disable trigger user`)
    for (const sql of statements) assert.ok((await tx.query(sql)).count > 0, sql)
    for (const table of tables) await tx.query(`alter table ${table} enable trigger user`)
  })
}
