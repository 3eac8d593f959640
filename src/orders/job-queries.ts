// The SQL of the jobs: what is due, for all partners, passing by whatever somebody else is working on.
import type { Queryable, Tx } from '../db/db.ts'
import { changedAt, type OrderRow, orderColumns } from './queries.ts'

// Uses orders_expiry.
export async function expireOrders(tx: Tx, state: string, reason: string, most: number): Promise<OrderRow[]> {
  const { rows } = await tx.query<OrderRow>(
    `with expired as (
       select partner_id, id from orders where state = 'awaiting_confirmation' and expires_at <= now()
       order by expires_at limit $3 for update skip locked)
     update orders o set state = $1, state_reason = $2, closed_at = ${changedAt}, last_updated_at = ${changedAt}
     from expired e where o.partner_id = e.partner_id and o.id = e.id returning ${orderColumns}`,
    [state, reason, most],
  )
  return rows
}

// Uses orders_rail.
export async function lockDueForRail(tx: Tx): Promise<OrderRow | undefined> {
  const { rows } = await tx.query<OrderRow>(
    `select ${orderColumns} from orders o where o.rail_due_at <= now() order by o.rail_due_at limit 1 for update skip locked`,
  )
  return rows[0]
}

export async function leaveRail(tx: Tx, { partnerId, id }: OrderRow): Promise<void> {
  await tx.query('update orders set rail_due_at = null where partner_id = $1 and id = $2', [partnerId, id])
}

// Uses orders_taken. Each take is told of once.
export async function markOverdue(tx: Tx, olderThan: string, most: number): Promise<OrderRow[]> {
  const { rows } = await tx.query<OrderRow>(
    `with overdue as (
       select partner_id, id from orders where state = 'processing' and alerted_at is null and taken_at <= now() - $1::interval
       order by taken_at limit $2 for update skip locked)
     update orders o set alerted_at = now() from overdue d where o.partner_id = d.partner_id and o.id = d.id returning ${orderColumns}`,
    [olderThan, most],
  )
  return rows
}

export interface Waiting {
  state: string
  count: number
  overdue: number
}

// Uses orders_state.
export async function countWaiting(db: Queryable, olderThan: string): Promise<Waiting[]> {
  const { rows } = await db.query<Waiting>(
    `select state, count(*)::int as count, (count(*) filter (where state = 'processing' and taken_at <= now() - $1::interval))::int as overdue
     from orders where state in ('awaiting_confirmation', 'pending', 'processing') group by state`,
    [olderThan],
  )
  return rows
}
