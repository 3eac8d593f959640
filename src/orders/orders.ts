// Orders: created, confirmed, paid or given back. Every change is one transaction with its postings and its event; the order's
// row is locked first and the account after it, always in that order, so that nothing is done twice and nobody waits in a circle.
import type { Context } from '../context.ts'
import type { Tx } from '../db/db.ts'
import { fail } from '../errors.ts'
import { newId } from '../ids.ts'
import { tellOrder } from '../live/entries.ts'
import { add, feeOf, negate, parseDecimal, placesOf } from '../money.ts'
import { type Actor, actorLabel, audit } from '../partners/audit.ts'
import { currencyDecimals } from '../partners/currencies.ts'
import { noSuchPartner } from '../partners/partners.ts'
import { findConfiguration } from '../partners/queries.ts'
import type { PartnerConfiguration } from '../partners/schema.ts'
import type { Action } from '../webhooks/catalogue.ts'
import { emit } from '../webhooks/publishing.ts'
import { instructionType } from './instructions.ts'
import {
  findReturn,
  type InstructionRow,
  insertOrder,
  lockOrder,
  type OrderRow,
  readClock,
  shareInstruction,
  updateOrder,
} from './queries.ts'
import type { NewOrder } from './schema.ts'
import { post } from './settlement.ts'
import { isClosed, type Trigger, transitionFrom } from './states.ts'
import { orderNews, orderView } from './views.ts'

export async function createWithdrawal(
  ctx: Context,
  tx: Tx,
  actor: Actor,
  partnerId: string,
  given: NewOrder,
): Promise<OrderRow> {
  const configuration = (await findConfiguration(tx, partnerId))!.document
  const { currency, amount, outgoing_instruction } = given.withdrawal
  const decimals = checkAmount(configuration, currency, amount, 'withdrawal.')
  const instruction = await shareInstruction(tx, partnerId, outgoing_instruction.instruction_id)
  const { type, id: instructionId } = checkDestination(instruction, currency, configuration)

  const fees = configuration.withdrawal_fees?.find((each) => each.type === type && each.currency === currency)
  const feeAmount = feeOf(amount, fees ?? { fixed: '0', percentage: '0' }, decimals)
  const destinationAmount = add(amount, negate(feeAmount))
  if (parseDecimal(destinationAmount).units <= 0n)
    refuse('withdrawal.amount', `must be above the fee, which is ${feeAmount} ${currency}`)

  const createdAt = await readClock(tx)
  const expiresAtMs = Date.parse(createdAt) + ctx.config.orderConfirmationWindowMs
  const row = await insertOrder(tx, {
    ...{ partnerId, operation: 'withdrawal', state: 'awaiting_confirmation', currency, amount, destinationAmount },
    ...{ feeAmount, instructionId, returnedOrderId: null, createdAt, processedAt: null, closedAt: null },
    id: newId('ord', Date.parse(createdAt)),
    referenceId: given.reference_id ?? null,
    createdBy: actorLabel(actor),
    expiresAt: new Date(expiresAtMs).toISOString(),
  })
  if (!row) throw fail('conflict', 'reference_id was used by an earlier order; each needs one of its own.')
  await audit(tx, actor, { action: 'order.created', partnerId, targetId: row.id })
  await tell(tx, row, 'partner-order-created')
  return row
}

// Funds that arrived: a credit order that is complete from the beginning.
export async function topUp(
  tx: Tx,
  actor: Actor,
  partnerId: string,
  given: { currency: string; amount: string; reference_id: string },
): Promise<OrderRow> {
  const configuration = await findConfiguration(tx, partnerId)
  if (!configuration) throw noSuchPartner()
  checkAmount(configuration.document, given.currency, given.amount, '')
  const { currency, amount, reference_id: referenceId } = given
  const row = await insertCredit(tx, actor, { partnerId, currency, amount, referenceId, returnedOrderId: null })
  if (!row) throw fail('conflict', 'reference_id was used by an earlier top-up; each needs one of its own.')
  await post(tx, 'top_up', row)
  await audit(tx, actor, { action: 'order.topped_up', partnerId, targetId: row.id, details: { currency, amount } })
  await tell(tx, row, 'partner-order-created', 'partner-order-closed')
  return row
}

// The bank sent a completed payout back: a credit order linked to it, once, however often this is said. The fee is not returned.
export async function returnWithdrawal(tx: Tx, actor: Actor, partnerId: string, orderId: string): Promise<OrderRow> {
  const paid = await lockOrder(tx, partnerId, orderId)
  if (!paid) throw noSuchOrder()
  if (paid.operation !== 'withdrawal' || paid.state !== 'completed') throw wrongState('returned', paid)
  const { currency, destinationAmount: amount } = paid
  const credit = { partnerId, currency, amount, referenceId: null, returnedOrderId: paid.id }
  const row = await insertCredit(tx, actor, credit)
  if (!row) return (await findReturn(tx, partnerId, paid.id))!
  await post(tx, 'return', row)
  await audit(tx, actor, { action: 'order.returned', partnerId, targetId: paid.id, details: { credit: row.id } })
  await tell(tx, row, 'partner-order-created', 'partner-order-closed')
  return row
}

async function insertCredit(
  tx: Tx,
  actor: Actor,
  credit: Pick<OrderRow, 'partnerId' | 'currency' | 'amount' | 'referenceId' | 'returnedOrderId'>,
): Promise<OrderRow | undefined> {
  const now = await readClock(tx)
  return insertOrder(tx, {
    ...credit,
    ...{ state: 'completed', instructionId: null, expiresAt: null, createdAt: now, processedAt: now, closedAt: now },
    operation: credit.returnedOrderId === null ? 'top_up' : 'withdrawal_return',
    id: newId('ord', Date.parse(now)),
    destinationAmount: credit.amount,
    feeAmount: '0',
    createdBy: actorLabel(actor),
  })
}

export interface ChangeOptions {
  readonly railInMs?: number // when the sandbox rail is to look at the order next
}

const done: Record<Trigger, string> = {
  confirm: 'confirmed',
  cancel: 'cancelled',
  cancel_by_operator: 'cancelled',
  expire: 'expired',
  take: 'taken',
  release: 'released',
  complete: 'completed',
  fail: 'failed',
}

// The one way in which a withdrawal changes its state.
export async function changeOrder(
  tx: Tx,
  actor: Actor,
  partnerId: string,
  orderId: string,
  trigger: Trigger,
  { railInMs }: ChangeOptions = {},
): Promise<OrderRow> {
  const row = await lockOrder(tx, partnerId, orderId)
  if (!row) throw noSuchOrder()
  if (row.operation !== 'withdrawal') throw wrongState(done[trigger], row) // a credit is nothing that anyone pays
  if (isRepeat(row, trigger, actor)) return row
  const transition = transitionFrom(row.state, trigger)
  if (!transition) throw wrongState(done[trigger], row)
  if (trigger === 'confirm') {
    if (row.late) throw fail('invalid_order_state', 'The order cannot be confirmed: its time to confirm is over.')
    if (!(await shareInstruction(tx, partnerId, row.instructionId!)))
      throw fail('invalid_destination', 'The outgoing instruction of the order was deleted.')
  }
  const taken = trigger === 'take'
  const changed = await updateOrder(tx, row, {
    state: transition.to,
    stateReason: transition.reason,
    // Kept for good: a bank that is given the same id twice pays once, also after a release.
    payoutId: taken ? (row.payoutId ?? newId('pay')) : row.payoutId,
    takenBy: taken ? actorLabel(actor) : row.takenBy,
    confirmed: trigger === 'confirm',
    taken,
    closed: isClosed(transition.to),
    railInMs: railInMs ?? null,
  })
  if (!changed) throw new Error(`order ${orderId} changed while it was locked`)
  if (transition.entry) await post(tx, transition.entry, changed)
  await audit(tx, actor, { action: `order.${done[trigger]}`, partnerId, targetId: orderId })
  await tell(tx, changed, transition.event)
  return changed
}

// Whoever works on payouts may have to say a thing again, not knowing whether it was heard.
function isRepeat({ state, stateReason, takenBy }: OrderRow, trigger: Trigger, actor: Actor): boolean {
  if (trigger === 'take') return state === 'processing' && takenBy === actorLabel(actor)
  if (trigger === 'complete') return state === 'completed'
  return trigger === 'fail' && stateReason === 'payout_failed'
}

// By webhook, and to whoever follows live.
export async function tell(tx: Tx, row: OrderRow, ...actions: Action[]): Promise<void> {
  const entities = { partner_order: orderView(row) }
  await tellOrder(tx, row.partnerId, row.id, orderNews(row))
  await emit(
    tx,
    actions.map((action) => ({ partnerId: row.partnerId, action, entities })),
  )
}

function checkDestination(
  instruction: InstructionRow | undefined,
  currency: string,
  configuration: PartnerConfiguration,
): InstructionRow {
  const place = 'withdrawal.outgoing_instruction.instruction_id'
  if (!instruction) throw fail('invalid_destination', `${place} is not one of your outgoing instructions.`)
  if (instruction.currency !== currency)
    throw fail('invalid_destination', `${place} is for ${instruction.currency}, not ${currency}.`)
  if (!instructionType(configuration, instruction.type)?.currencies.includes(currency))
    throw fail('invalid_destination', `${place} is of the type ${instruction.type}, which is not enabled any more.`)
  return instruction
}

// How many decimals the currency has, once the amount is found to be one of it.
function checkAmount(configuration: PartnerConfiguration, currency: string, amount: string, place: string): number {
  const decimals = currencyDecimals(currency, configuration.available_assets)
  if (decimals === undefined) {
    refuse(`${place}currency`, 'is neither one of your assets nor an ISO 4217 currency')
  }
  if (parseDecimal(amount).units === 0n) refuse(`${place}amount`, 'must be above zero')
  if (placesOf(amount) > decimals) {
    refuse(`${place}amount`, `has ${placesOf(amount)} decimals, but ${currency} has ${decimals}`)
  }
  return decimals
}

export function noSuchOrder() {
  return fail('not_found', 'There is no such order.')
}

function wrongState(what: string, { operation, state, stateReason, takenBy }: OrderRow) {
  const is = operation === 'withdrawal' ? state : `a ${operation}`
  const why = stateReason ?? (state === 'processing' ? `taken by ${takenBy}` : null)
  return fail('invalid_order_state', `The order cannot be ${what}: it is ${is}${why ? ` (${why})` : ''}.`)
}

function refuse(where: string, what: string): never {
  throw fail('invalid_parameters', `${where} ${what}.`)
}
