// The ledger in the database: whatever a mistake in the service might try, PostgreSQL itself refuses negative balances, sums that
// are not zero, and any change of what was written; and a statement of any length is one file.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Db } from '../../src/db/db.ts'
import { ok, orderIn } from '../support/order-states.ts'
import { assertReconciled, newOrderPartner } from '../support/orders.ts'
import { startRestartable } from '../support/restarts.ts'

const { service, meanwhile } = await startRestartable({ after }, { PAYOUT_RAIL: 'operator' })

test('the database refuses what must never be written, and keeps what was', async () => {
  const partner = await newOrderPartner(service, { funds: '5000.00' })
  const { id, instructionId } = partner
  const pending = await orderIn(service, partner, 'pending', '1000.00') // entry 2
  const paid = await orderIn(service, partner, 'completed', '500.00') // entries 3 and 4
  await ok(service.operator.post(`/orders/${paid.id}/return`)) // entry 5
  const account = `update settlement_accounts set %s where partner_id = '${id}'`
  const order = `update orders set %s where id = '${pending.id}'`
  const posting = (...rows: [entry: number, account: string, amount: string][]) =>
    `insert into postings (partner_id, currency, entry, account, amount) values ${rows
      .map(([entry, account, amount]) => `('${id}', 'ARS', ${entry}, '${account}', ${amount})`)
      .join(', ')}`
  const entry = (number: number, kind: string, orderId: string) =>
    `insert into settlement_entries (partner_id, currency, entry, kind, order_id, available, held, created_at)
     values ('${id}', 'ARS', ${number}, '${kind}', '${orderId}', 1, 1, now())`
  const newOrder = (values: string) =>
    `insert into orders (partner_id, id, operation, state, currency, amount, destination_amount, fee_amount, instruction_id,
       returned_order_id, reference_id, created_by, created_at, last_updated_at, closed_at) values ('${id}', 'ord_x', ${values})`
  // biome-ignore format: a table reads best as one
  const attempts: [sql: string, complaint: RegExp][] = [
    [account.replace('%s', 'available = -0.01, top_ups = top_ups + available + 0.01'), /settlement_accounts_available_check/],
    [account.replace('%s', 'held = -1, available = available + held + 1'), /settlement_accounts_held_check/],
    [account.replace('%s', 'available = available + 0.01'), /violates check constraint/],
    [account.replace('%s', 'fees = fees + 1'), /violates check constraint/],
    [`delete from settlement_accounts where partner_id = '${id}'`, /violates foreign key/],
    ['update settlement_entries set available = 0', /append-only/],
    ['delete from settlement_entries', /append-only/],
    ['truncate settlement_entries cascade', /append-only/],
    ['update postings set amount = amount * 2', /append-only/],
    ['delete from postings', /append-only/],
    ['truncate postings', /append-only/],
    [posting([2, 'fees', '1']), /must sum to zero/],
    [posting([2, 'fees', '1'], [2, 'payouts', '-1.000000000000000001']), /must sum to zero/],
    [posting([2, 'fees', '1'], [3, 'top_ups', '-1']), /must sum to zero/], // zero in all, but not in each
    [posting([2, 'available', '1'], [2, 'fees', '-1']), /duplicate key/],
    [posting([2, 'fees', '0']), /postings_amount_check/],
    [posting([2, 'pocket', '1']), /postings_account_check/],
    [posting([99, 'fees', '1'], [99, 'payouts', '-1']), /violates foreign key/],
    [entry(2, 'release', pending.id), /duplicate key/],
    [entry(6, 'hold', pending.id), /duplicate key/], // an order is held, released and paid once
    [entry(6, 'payout', paid.id), /duplicate key/],
    [entry(6, 'gift', pending.id), /settlement_entries_kind_check/],
    [entry(6, 'release', 'ord_y'), /violates foreign key/],
    [order.replace('%s', "state = 'lost'"), /orders_state_check/],
    [order.replace('%s', "state = 'completed'"), /violates check constraint/], // without closed_at
    [order.replace('%s', 'fee_amount = 0'), /violates check constraint/],
    [order.replace('%s', 'amount = -1, fee_amount = 0, destination_amount = -1'), /violates check constraint/],
    [order.replace('%s', 'instruction_id = null'), /violates check constraint/],
    [`delete from orders where id = '${pending.id}'`, /violates foreign key/],
    [newOrder(`'withdrawal_return', 'completed', 'ARS', 1, 1, 0, null, '${paid.id}', null, 'x', now(), now(), now()`), /duplicate|orders_returned/],
    [newOrder(`'withdrawal', 'pending', 'ARS', 1, 2, -1, '${instructionId}', null, null, 'x', now(), now(), null`), /orders_fee_amount_check/],
  ]
  await meanwhile(async (db) => {
    const before = await everything(db, id)
    for (const [sql, complaint] of attempts) await assert.rejects(db.query(sql), complaint, sql)
    assert.deepEqual(await everything(db, id), before)
  })
  await assertReconciled(service)
})

async function everything(db: Db, partnerId: string): Promise<unknown[]> {
  const tables = ['settlement_accounts', 'settlement_entries', 'postings', 'orders']
  return Promise.all(
    tables.map(async (table) => {
      const sql = `select t::text as line from ${table} t where partner_id = $1 order by 1`
      return (await db.query<{ line: string }>(sql, [partnerId])).rows
    }),
  )
}

// Read a thousand at a time; written by SQL, because as many requests would take a minute.
test('a statement of more than a thousand lines is one file, complete and in order', async () => {
  const { id, api } = await newOrderPartner(service, { funds: '0.01' })
  const count = 2_001
  await meanwhile((db) =>
    db.transaction(async (tx) => {
      const values = [id, count]
      await tx.query(
        `insert into orders (partner_id, id, operation, state, currency, amount, destination_amount, fee_amount, reference_id,
           created_by, created_at, processed_at, last_updated_at, closed_at)
         select $1, 'ord_' || lpad(n::text, 26, '0'), 'top_up', 'completed', 'ARS', 0.01, 0.01, 0, 'bulk ' || n, 'test', now(), now(), now(), now()
         from generate_series(2, $2::int) n`,
        values,
      )
      await tx.query(
        `insert into settlement_entries (partner_id, currency, entry, kind, order_id, available, held, created_at)
         select $1, 'ARS', n, 'top_up', 'ord_' || lpad(n::text, 26, '0'), n * 0.01, 0, now() from generate_series(2, $2::int) n`,
        values,
      )
      await tx.query(
        `insert into postings (partner_id, currency, entry, account, amount)
         select $1, 'ARS', n, account, amount from generate_series(2, $2::int) n,
           (values ('available', 0.01), ('top_ups', -0.01)) as moved (account, amount)`,
        values,
      )
      await tx.query(
        `update settlement_accounts set available = $2 * 0.01, top_ups = $2 * -0.01, last_entry = $2 where partner_id = $1`,
        values,
      )
    }),
  )
  const { text } = await ok(api.get('/partner/settlement-accounts/ARS/statement?format=csv'))
  const lines = text
    .trimEnd()
    .split('\r\n')
    .slice(1)
    .map((line) => line.split(','))
  assert.deepEqual(
    lines.map((cells) => [cells[0], cells[6]]),
    Array.from({ length: count }, (_, i) => [String(i + 1), ((i + 1) / 100).toFixed(2)]),
  )
  const { checked } = await assertReconciled(service)
  assert.ok(checked.entries > count)
})
