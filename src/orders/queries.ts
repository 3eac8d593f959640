// All SQL about instructions and orders, one function a statement. Every one names its partner, except those of the operator and
// of the jobs, which work for all.
import type { Queryable, Tx } from '../db/db.ts'
import type { Page } from '../http/paging.ts'
import { firstIdAt } from '../ids.ts'
import { fromWire, type Timestamp } from '../times.ts'
import type { Operation, OrderState } from './states.ts'

export interface InstructionRow {
  partnerId: string
  id: string
  type: string
  currency: string
  label: string
  fields: Record<string, string>
  fingerprint: string
  deletedAt: Timestamp | null
  createdAt: Timestamp
  createdBy: string
}

export async function insertInstruction(
  tx: Tx,
  row: Omit<InstructionRow, 'deletedAt' | 'createdAt'>,
): Promise<InstructionRow> {
  const { rows } = await tx.query<InstructionRow>(
    `insert into outgoing_instructions (partner_id, id, type, currency, label, fields, fingerprint, created_by)
     values ($1, $2, $3, $4, $5, $6, $7, $8) returning *`,
    [
      row.partnerId,
      row.id,
      row.type,
      row.currency,
      row.label,
      JSON.stringify(row.fields),
      row.fingerprint,
      row.createdBy,
    ],
  )
  return rows[0]!
}

export async function findInstruction(
  db: Queryable,
  partnerId: string,
  id: string,
): Promise<InstructionRow | undefined> {
  const { rows } = await db.query<InstructionRow>(
    'select * from outgoing_instructions where partner_id = $1 and id = $2 and deleted_at is null',
    [partnerId, id],
  )
  return rows[0]
}

// Shares the row with other orders; a deletion waits for them, and they for it.
export async function shareInstruction(tx: Tx, partnerId: string, id: string): Promise<InstructionRow | undefined> {
  const { rows } = await tx.query<InstructionRow>(
    'select * from outgoing_instructions where partner_id = $1 and id = $2 and deleted_at is null for share',
    [partnerId, id],
  )
  return rows[0]
}

export async function listInstructions(db: Queryable, partnerId: string, page: Page): Promise<InstructionRow[]> {
  const { rows } = await db.query<InstructionRow>(
    `select * from outgoing_instructions where partner_id = $1 and deleted_at is null and ($2::text is null or id < $2)
     order by id desc limit $3`,
    [partnerId, page.before, page.limit + 1],
  )
  return rows
}

export async function markInstructionDeleted(tx: Tx, partnerId: string, id: string): Promise<boolean> {
  const { count } = await tx.query(
    'update outgoing_instructions set deleted_at = now() where partner_id = $1 and id = $2 and deleted_at is null',
    [partnerId, id],
  )
  return count === 1
}

export interface OrderRow {
  partnerId: string
  id: string
  operation: Operation
  state: OrderState
  stateReason: string | null
  referenceId: string | null
  currency: string
  amount: string
  destinationAmount: string
  feeAmount: string
  instructionId: string | null
  returnedOrderId: string | null
  payoutId: string | null
  takenAt: Timestamp | null
  takenBy: string | null
  railDueAt: Timestamp | null
  createdBy: string
  createdAt: Timestamp
  processedAt: Timestamp | null
  lastUpdatedAt: Timestamp
  expiresAt: Timestamp | null
  closedAt: Timestamp | null
}

export const orderColumns = `o.partner_id, o.id, o.operation, o.state, o.state_reason, o.reference_id, o.currency, o.amount::text as amount,
  o.destination_amount::text as destination_amount, o.fee_amount::text as fee_amount, o.instruction_id, o.returned_order_id, o.payout_id,
  o.taken_at, o.taken_by, o.rail_due_at, o.created_by, o.created_at, o.processed_at, o.last_updated_at, o.expires_at, o.closed_at`

export async function readClock(tx: Tx): Promise<Timestamp> {
  const { rows } = await tx.query<{ now: Timestamp }>('select now() as now')
  return rows[0]!.now
}

// Undefined when the reference, or the return of that order, exists already.
export async function insertOrder(
  tx: Tx,
  row: Omit<OrderRow, 'lastUpdatedAt' | 'payoutId' | 'takenAt' | 'takenBy' | 'railDueAt' | 'stateReason'>,
): Promise<OrderRow | undefined> {
  const { rows } = await tx.query<OrderRow>(
    `insert into orders as o (partner_id, id, operation, state, reference_id, currency, amount, destination_amount, fee_amount,
       instruction_id, returned_order_id, created_by, created_at, last_updated_at, processed_at, expires_at, closed_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $13, $14, $15, $16)
     on conflict do nothing returning ${orderColumns}`,
    [
      row.partnerId,
      row.id,
      row.operation,
      row.state,
      row.referenceId,
      row.currency,
      row.amount,
      row.destinationAmount,
      row.feeAmount,
      row.instructionId,
      row.returnedOrderId,
      row.createdBy,
      row.createdAt,
      row.processedAt,
      row.expiresAt,
      row.closedAt,
    ],
  )
  return rows[0]
}

export async function findOrder(db: Queryable, partnerId: string, id: string): Promise<OrderRow | undefined> {
  const { rows } = await db.query<OrderRow>(
    `select ${orderColumns} from orders o where o.partner_id = $1 and o.id = $2`,
    [partnerId, id],
  )
  return rows[0]
}

// Uses orders_reference.
export async function findOrderByReference(
  db: Queryable,
  partnerId: string,
  operation: Operation,
  referenceId: string,
): Promise<OrderRow | undefined> {
  const { rows } = await db.query<OrderRow>(
    `select ${orderColumns} from orders o where o.partner_id = $1 and o.operation = $2 and o.reference_id = $3`,
    [partnerId, operation, referenceId],
  )
  return rows[0]
}

// `late` tells, by the database's clock, whether the time to confirm is over.
export async function lockOrder(
  tx: Tx,
  partnerId: string,
  id: string,
): Promise<(OrderRow & { late: boolean }) | undefined> {
  const { rows } = await tx.query<OrderRow & { late: boolean }>(
    `select ${orderColumns}, coalesce(o.expires_at <= clock_timestamp(), false) as late
     from orders o where o.partner_id = $1 and o.id = $2 for update`,
    [partnerId, id],
  )
  return rows[0]
}

export type OrderChange = Pick<OrderRow, 'state' | 'stateReason' | 'payoutId' | 'takenBy'> & {
  readonly confirmed: boolean
  readonly taken: boolean
  readonly closed: boolean
  readonly railInMs: number | null
}

// Who waited for the order began before whoever changed it meanwhile, and so did its now(): the times of an order never go back.
export const changedAt = 'greatest(now(), o.last_updated_at)'

// Guarded by the state it was in: a change of what has changed meanwhile moves no row.
export async function updateOrder(tx: Tx, row: OrderRow, change: OrderChange): Promise<OrderRow | undefined> {
  const { rows } = await tx.query<OrderRow>(
    `update orders o set state = $4, state_reason = $5, payout_id = $6, taken_by = $7, last_updated_at = ${changedAt}, alerted_at = null,
       processed_at = case when $8 then ${changedAt} else processed_at end, taken_at = case when $9 then ${changedAt} else taken_at end,
       closed_at = case when $10 then ${changedAt} else closed_at end, rail_due_at = now() + $11 * interval '1 millisecond'
     where o.partner_id = $1 and o.id = $2 and o.state = $3 returning ${orderColumns}`,
    [
      row.partnerId,
      row.id,
      row.state,
      change.state,
      change.stateReason,
      change.payoutId,
      change.takenBy,
      change.confirmed,
      change.taken,
      change.closed,
      change.railInMs,
    ],
  )
  return rows[0]
}

// Uses orders_returned.
export async function findReturn(db: Queryable, partnerId: string, orderId: string): Promise<OrderRow | undefined> {
  const { rows } = await db.query<OrderRow>(
    `select ${orderColumns} from orders o where o.partner_id = $1 and o.returned_order_id = $2`,
    [partnerId, orderId],
  )
  return rows[0]
}

export interface OrderFilters {
  readonly state?: string
  readonly operation?: string
  readonly reference_id?: string
  readonly currency?: string
  readonly created_from?: string
  readonly created_to?: string
}

// Uses the primary key (ids sort by time), orders_partner_state or orders_reference.
export async function listOrders(
  db: Queryable,
  partnerId: string,
  filters: OrderFilters,
  page: Page,
): Promise<OrderRow[]> {
  const from = filters.created_from === undefined ? null : fromWire(filters.created_from)
  const to = filters.created_to === undefined ? null : fromWire(filters.created_to)
  const { rows } = await db.query<OrderRow>(
    `select ${orderColumns} from orders o
     where o.partner_id = $1 and ($2::text is null or o.id < $2) and ($3::text is null or o.state = $3)
       and ($4::text is null or o.operation = $4) and ($5::text is null or o.reference_id = $5)
       and ($6::text is null or o.currency = $6) and ($7::timestamptz is null or (o.created_at >= $7 and o.id >= $8))
       and ($9::timestamptz is null or (o.created_at < $9 and o.id < $10))
     order by o.id desc limit $11`,
    [
      partnerId,
      page.before,
      filters.state ?? null,
      filters.operation ?? null,
      filters.reference_id ?? null,
      filters.currency ?? null,
      from,
      from === null ? null : firstIdAt('ord', Date.parse(from)),
      to,
      to === null ? null : firstIdAt('ord', Date.parse(to) + 1),
      page.limit + 1,
    ],
  )
  return rows
}

export interface OperatorOrderRow extends OrderRow {
  instructionType: string | null
  instructionFields: Record<string, string> | null
}

const withDestination = `select ${orderColumns}, i.type as instruction_type, i.fields as instruction_fields
  from orders o left join outgoing_instructions i on i.partner_id = o.partner_id and i.id = o.instruction_id`

// For the operator: of all partners. Uses orders_state, or the primary key when a partner is named.
export async function listOrdersOfAll(
  db: Queryable,
  filters: { readonly state?: string; readonly partner_id?: string },
  page: Page,
): Promise<OperatorOrderRow[]> {
  const { rows } = await db.query<OperatorOrderRow>(
    `${withDestination}
     where ($1::text is null or o.state = $1) and ($2::text is null or o.partner_id = $2) and ($3::text is null or o.id < $3)
     order by o.id desc limit $4`,
    [filters.state ?? null, filters.partner_id ?? null, page.before, page.limit + 1],
  )
  return rows
}

export async function findOrderOfAny(db: Queryable, id: string): Promise<OperatorOrderRow | undefined> {
  const { rows } = await db.query<OperatorOrderRow>(`${withDestination} where o.id = $1`, [id])
  return rows[0]
}
