// How orders and accounts look from outside. One view serves create, details, list, confirm and the webhook, so that they cannot differ.
import { withPlaces } from '../money.ts'
import { currencyDecimals } from '../partners/currencies.ts'
import { offsetSeconds, offsetSecondsOrNull, utcSeconds } from '../times.ts'
import type { OperatorOrderRow, OrderRow } from './queries.ts'
import type { AccountRow, EntryRow } from './settlement.ts'

export function orderView(row: OrderRow) {
  const { currency, amount } = row
  return {
    id: row.id,
    state: row.state,
    reference_id: row.referenceId,
    operation: row.operation,
    created_at: offsetSeconds(row.createdAt),
    processed_at: offsetSecondsOrNull(row.processedAt),
    last_updated_at: offsetSeconds(row.lastUpdatedAt),
    settlement: { currency, amount, operation: row.operation === 'withdrawal' ? 'debit' : 'credit' },
    ...particulars(row),
    state_reason: row.stateReason,
    expires_at: offsetSecondsOrNull(row.expiresAt),
    closed_at: offsetSecondsOrNull(row.closedAt),
  }
}

// What those who follow live are told of a change.
export function orderNews(row: OrderRow) {
  return {
    id: row.id,
    state: row.state,
    state_reason: row.stateReason,
    last_updated_at: offsetSeconds(row.lastUpdatedAt),
  }
}

function particulars({ operation, currency, amount, ...row }: OrderRow) {
  switch (operation) {
    case 'withdrawal':
      return {
        withdrawal: {
          currency,
          amount,
          destination_amount: row.destinationAmount,
          fee_amount: row.feeAmount,
          type: 'outgoing_instruction',
          outgoing_instruction: { instruction_id: row.instructionId },
        },
      }
    case 'top_up':
      return { top_up: { currency, amount } }
    case 'withdrawal_return':
      return { withdrawal_return: { currency, amount, order_id: row.returnedOrderId } }
  }
}

// For whoever pays: with the destination and the id to give to the bank.
export function operatorOrderView(row: OperatorOrderRow) {
  const { instructionType: type, instructionFields: fields, currency } = row
  return {
    ...orderView(row),
    partner_id: row.partnerId,
    payout_id: row.payoutId,
    taken_at: offsetSecondsOrNull(row.takenAt),
    taken_by: row.takenBy,
    destination: type === null ? null : { type, currency, fields },
  }
}

type Assets = Parameters<typeof currencyDecimals>[1]

export function accountView(row: AccountRow, assets: Assets) {
  const money = moneyOf(row.currency, assets)
  return {
    currency: row.currency,
    available: money(row.available),
    held: money(row.held),
    updated_at: utcSeconds(row.updatedAt),
  }
}

export function entryView(row: EntryRow, currency: string, assets: Assets) {
  const money = moneyOf(currency, assets)
  return {
    entry: row.entry,
    created_at: utcSeconds(row.createdAt),
    kind: row.kind,
    order_id: row.orderId,
    available_change: money(row.availableChange),
    held_change: money(row.heldChange),
    available: money(row.available),
    held: money(row.held),
  }
}

// Sums have as many decimals as their longest part; a balance is shown with those of its currency.
function moneyOf(currency: string, assets: Assets): (text: string) => string {
  const decimals = currencyDecimals(currency, assets) ?? 0
  return (text) => withPlaces(text, decimals)
}
