// Reconciliation: proves from the postings alone that every balance and every order agree, partner by partner, each in one
// snapshot, and names what does not.
import type { Context } from '../context.ts'
import type { Tx } from '../db/db.ts'

export interface Discrepancy {
  readonly partner_id: string
  readonly currency: string | null
  readonly order_id: string | null
  readonly entry: number | null
  readonly problem: string
}

export interface Reconciliation {
  readonly agrees: boolean
  readonly checked: { partners: number; accounts: number; entries: number; postings: number; orders: number }
  readonly discrepancies: readonly Discrepancy[]
}

const partnersAtOnce = 100
const mostNamed = 1_000

export async function reconcile(ctx: Context): Promise<Reconciliation> {
  const checked = { partners: 0, accounts: 0, entries: 0, postings: 0, orders: 0 }
  const discrepancies: Discrepancy[] = []
  for (let after = ''; ; ) {
    const { rows: partners } = await ctx.db.query<{ id: string }>(
      'select id from partners where id > $1 order by id limit $2',
      [after, partnersAtOnce],
    )
    for (const { id } of partners) {
      const found = await ctx.db.transaction((tx) => reconcilePartner(tx, id))
      checked.partners++
      for (const key of ['accounts', 'entries', 'postings', 'orders'] as const) checked[key] += found.counts[key]
      discrepancies.push(...found.problems.map((problem) => ({ partner_id: id, ...problem })))
      if (discrepancies.length >= mostNamed) break
    }
    if (partners.length < partnersAtOnce || discrepancies.length >= mostNamed) break
    after = partners.at(-1)!.id
  }
  return { agrees: discrepancies.length === 0, checked, discrepancies: discrepancies.slice(0, mostNamed) }
}

type Problem = Omit<Discrepancy, 'partner_id'>
type Counts = Record<'accounts' | 'entries' | 'postings' | 'orders', number>

async function reconcilePartner(tx: Tx, partnerId: string): Promise<{ counts: Counts; problems: Problem[] }> {
  await tx.query('set transaction isolation level repeatable read, read only')
  const counts = await tx.query<Counts>(
    `select (select count(*)::int from settlement_accounts where partner_id = $1) as accounts,
       (select count(*)::int from settlement_entries where partner_id = $1) as entries,
       (select count(*)::int from postings where partner_id = $1) as postings,
       (select count(*)::int from orders where partner_id = $1) as orders`,
    [partnerId],
  )
  const problems: Problem[] = []
  for (const check of checks) {
    const { rows } = await tx.query<Partial<Problem> & { orderId?: string }>(check, [partnerId])
    problems.push(
      ...rows.map(({ currency = null, orderId = null, entry = null, problem = '' }) => ({
        ...{ currency, order_id: orderId, entry, problem },
      })),
    )
  }
  return { counts: counts.rows[0]!, problems }
}

// What the postings of a partner say about its accounts, one column for each.
const sums = (by: string) =>
  `select ${by}, ${['available', 'held', 'fees', 'payouts', 'top_ups']
    .map((account) => `coalesce(sum(p.amount) filter (where p.account = '${account}'), 0) as ${account}`)
    .join(', ')}`

const checks: readonly string[] = [
  `select currency, entry, 'the postings of the entry sum to ' || sum(amount) || ', not to zero' as problem
   from postings where partner_id = $1 group by currency, entry having sum(amount) <> 0`,

  `select e.currency, e.entry, e.order_id, 'the entry has no postings' as problem
   from settlement_entries e where e.partner_id = $1 and not exists (
     select 1 from postings p where p.partner_id = e.partner_id and p.currency = e.currency and p.entry = e.entry)`,

  `select e.currency, e.entry, e.order_id, 'an entry is missing before this one' as problem
   from (select *, row_number() over (partition by currency order by entry) as place from settlement_entries where partner_id = $1) e
   where e.entry <> e.place`,

  // Running balances, added up from the first posting on.
  `select r.currency, r.entry, r.order_id, 'the balances after the entry are ' || r.available || ' and ' || r.held
     || ', but the postings up to it sum to ' || r.available_sum || ' and ' || r.held_sum as problem
   from (
     select e.*, sum(m.available) over up_to as available_sum, sum(m.held) over up_to as held_sum
     from settlement_entries e
     join (${sums('p.currency, p.entry')} from postings p where p.partner_id = $1 group by p.currency, p.entry) m
       on m.currency = e.currency and m.entry = e.entry
     where e.partner_id = $1 window up_to as (partition by e.currency order by e.entry)) r
   where r.available <> r.available_sum or r.held <> r.held_sum`,

  `select coalesce(a.currency, m.currency) as currency,
     'the account says ' || concat_ws(' / ', a.available, a.held, a.fees, a.payouts, a.top_ups)
       || ' (available, held, fees, payouts, top_ups), its postings sum to '
       || concat_ws(' / ', m.available, m.held, m.fees, m.payouts, m.top_ups) as problem
   from (select * from settlement_accounts where partner_id = $1) a
   full join (${sums('p.currency')}, max(p.entry) as last_entry from postings p where p.partner_id = $1 group by p.currency) m
     on m.currency = a.currency
   where (a.available, a.held, a.fees, a.payouts, a.top_ups, a.last_entry)
     is distinct from (m.available, m.held, m.fees, m.payouts, m.top_ups, m.last_entry)
     and not (m.currency is null and a.last_entry = 0 and (a.available, a.held, a.fees, a.payouts, a.top_ups) = (0, 0, 0, 0, 0))`,

  // What each order should have moved by now, against what was posted for it in its currency.
  `select o.id as order_id, o.currency, 'the ' || o.operation || ' is ' || o.state || ', but its postings sum to '
     || concat_ws(' / ', m.available, m.held, m.fees, m.payouts, m.top_ups) || ' (available, held, fees, payouts, top_ups)' as problem
   from orders o
   left join (
     ${sums('e.order_id, e.currency')} from settlement_entries e join postings p
       on p.partner_id = e.partner_id and p.currency = e.currency and p.entry = e.entry
     where e.partner_id = $1 group by e.order_id, e.currency) m on m.order_id = o.id and m.currency = o.currency
   where o.partner_id = $1 and (coalesce(m.available, 0), coalesce(m.held, 0), coalesce(m.fees, 0), coalesce(m.payouts, 0), coalesce(m.top_ups, 0))
     <> (case when o.operation <> 'withdrawal' then o.amount when o.state in ('pending', 'processing', 'completed') then -o.amount else 0 end,
         case when o.operation = 'withdrawal' and o.state in ('pending', 'processing') then o.amount else 0 end,
         case when o.operation = 'withdrawal' and o.state = 'completed' then o.fee_amount else 0 end,
         case when o.operation = 'withdrawal_return' then -o.amount
           when o.operation = 'withdrawal' and o.state = 'completed' then o.destination_amount else 0 end,
         case when o.operation = 'top_up' then -o.amount else 0 end)`,

  `select e.order_id, e.currency, e.entry, 'the entry is in ' || e.currency || ', its order in ' || o.currency as problem
   from settlement_entries e join orders o on o.partner_id = e.partner_id and o.id = e.order_id
   where e.partner_id = $1 and e.currency <> o.currency`,

  // Each entry does what its kind says, and a return what its payout did.
  `select e.order_id, e.currency, e.entry, 'the entry is a ' || e.kind || ' of its order, but its postings are '
     || concat_ws(' / ', m.available, m.held, m.fees, m.payouts, m.top_ups) || ' (available, held, fees, payouts, top_ups)' as problem
   from settlement_entries e
   join orders o on o.partner_id = e.partner_id and o.id = e.order_id
   join (${sums('p.currency, p.entry')} from postings p where p.partner_id = $1 group by p.currency, p.entry) m
     on m.currency = e.currency and m.entry = e.entry
   where e.partner_id = $1 and (m.available, m.held, m.fees, m.payouts, m.top_ups)
     <> (case e.kind when 'hold' then -o.amount when 'payout' then 0 else o.amount end,
         case e.kind when 'hold' then o.amount when 'release' then -o.amount when 'payout' then -o.amount else 0 end,
         case e.kind when 'payout' then o.fee_amount else 0 end,
         case e.kind when 'payout' then o.destination_amount when 'return' then -o.amount else 0 end,
         case e.kind when 'top_up' then -o.amount else 0 end)`,

  `select o.id as order_id, o.currency, 'the return of ' || o.amount || ' ' || o.currency || ' is of an order that is ' || p.state
     || ' and paid ' || p.destination_amount || ' ' || p.currency as problem
   from orders o join orders p on p.partner_id = o.partner_id and p.id = o.returned_order_id
   where o.partner_id = $1 and (o.amount, o.currency, 'completed') <> (p.destination_amount, p.currency, p.state)`,
]
