// Settlement accounts: one per partner and currency, moved only by entries whose postings sum to zero. The row of the account is
// locked while an entry is written, so no balance goes below zero, however many spend at once.
import type { Queryable, Tx } from '../db/db.ts'
import { fail } from '../errors.ts'
import type { Page } from '../http/paging.ts'
import { negate } from '../money.ts'
import type { Timestamp } from '../times.ts'
import type { EntryKind } from './states.ts'

const accounts = ['available', 'held', 'fees', 'payouts', 'top_ups'] as const
type Account = (typeof accounts)[number]

export interface Cause {
  readonly partnerId: string
  readonly id: string // of the order
  readonly currency: string
  readonly amount: string
  readonly destinationAmount: string
  readonly feeAmount: string
}

// What each kind of entry moves; the rows of reconciliation.ts are the same table read backwards.
export function movesOf(
  kind: EntryKind,
  { amount, destinationAmount, feeAmount }: Pick<Cause, 'amount' | 'destinationAmount' | 'feeAmount'>,
): Partial<Record<Account, string>> {
  switch (kind) {
    case 'top_up':
      return { available: amount, top_ups: negate(amount) }
    case 'hold':
      return { available: negate(amount), held: amount }
    case 'release':
      return { available: amount, held: negate(amount) }
    case 'payout':
      return { held: negate(amount), payouts: destinationAmount, fees: feeAmount }
    case 'return':
      return { available: amount, payouts: negate(amount) }
  }
}

// Throws insufficient_funds when the account does not hold what the entry takes.
export async function post(tx: Tx, kind: EntryKind, cause: Cause): Promise<void> {
  const { partnerId, currency } = cause
  const moves = movesOf(kind, cause)
  if (kind === 'top_up') await ensureAccount(tx, partnerId, currency)
  const changes = accounts.map((account) => moves[account] ?? '0')
  const { count } = await tx.query(
    `with change as (
       select $3::numeric as available, $4::numeric as held, $5::numeric as fees, $6::numeric as payouts, $7::numeric as top_ups),
     after as (
       update settlement_accounts a
       set available = a.available + c.available, held = a.held + c.held, fees = a.fees + c.fees,
         payouts = a.payouts + c.payouts, top_ups = a.top_ups + c.top_ups, last_entry = a.last_entry + 1, updated_at = now()
       from change c
       where a.partner_id = $1 and a.currency = $2 and a.available + c.available >= 0 and a.held + c.held >= 0
       returning a.*),
     entered as (
       insert into settlement_entries (partner_id, currency, entry, kind, order_id, available, held, created_at)
       select partner_id, currency, last_entry, $8, $9, available, held, clock_timestamp() from after
       returning partner_id, currency, entry)
     insert into postings (partner_id, currency, entry, account, amount)
     select e.partner_id, e.currency, e.entry, moved.account, moved.amount
     from entered e cross join change c cross join lateral (values
       ('available', c.available), ('held', c.held), ('fees', c.fees), ('payouts', c.payouts), ('top_ups', c.top_ups)
     ) as moved (account, amount)
     where moved.amount <> 0`,
    [partnerId, currency, ...changes, kind, cause.id],
  )
  if (count === 0) {
    throw fail('insufficient_funds', `The settlement account does not hold ${cause.amount} ${currency} available.`)
  }
}

async function ensureAccount(tx: Tx, partnerId: string, currency: string): Promise<void> {
  await tx.query('insert into settlement_accounts (partner_id, currency) values ($1, $2) on conflict do nothing', [
    partnerId,
    currency,
  ])
}

export interface AccountRow {
  currency: string
  available: string
  held: string
  updatedAt: Timestamp
}

const accountColumns = 'currency, available::text as available, held::text as held, updated_at'

export async function listAccounts(db: Queryable, partnerId: string, page: Page): Promise<AccountRow[]> {
  const { rows } = await db.query<AccountRow>(
    `select ${accountColumns} from settlement_accounts
     where partner_id = $1 and ($2::text is null or currency > $2) order by currency limit $3`,
    [partnerId, page.before, page.limit + 1],
  )
  return rows
}

export async function findAccount(db: Queryable, partnerId: string, currency: string): Promise<AccountRow | undefined> {
  const { rows } = await db.query<AccountRow>(
    `select ${accountColumns} from settlement_accounts where partner_id = $1 and currency = $2`,
    [partnerId, currency],
  )
  return rows[0]
}

export interface EntryRow {
  entry: number
  createdAt: Timestamp
  kind: EntryKind
  orderId: string
  availableChange: string
  heldChange: string
  available: string
  held: string
}

export interface StatementSpan {
  readonly from: Timestamp | null
  readonly to: Timestamp | null
  readonly limit: number
}

// Newest first, below the entry `before`; or oldest first, above the entry `after`. By the primary key.
export async function listEntries(
  db: Queryable,
  partnerId: string,
  currency: string,
  { from, to, limit, ...position }: StatementSpan & ({ readonly before: number | null } | { readonly after: number }),
): Promise<EntryRow[]> {
  const [beyond, direction] = 'after' in position ? ['>', 'asc'] : ['<', 'desc']
  const change = (account: Account) =>
    `coalesce((select p.amount from postings p where p.partner_id = e.partner_id and p.currency = e.currency
       and p.entry = e.entry and p.account = '${account}'), 0)::text as ${account}_change`
  const { rows } = await db.query<EntryRow>(
    `select e.entry, e.created_at, e.kind, e.order_id, ${change('available')}, ${change('held')},
       e.available::text as available, e.held::text as held
     from settlement_entries e
     where e.partner_id = $1 and e.currency = $2 and ($3::bigint is null or e.entry ${beyond} $3)
       and ($4::timestamptz is null or e.created_at >= $4) and ($5::timestamptz is null or e.created_at < $5)
     order by e.entry ${direction} limit $6`,
    [partnerId, currency, 'after' in position ? position.after : position.before, from, to, limit],
  )
  return rows
}
