// How the model's orders look from outside, with 'time' for a time and 'id' for a payout's id; and what the service shows, brought
// to the same form.
import type { Body } from './client.ts'
import type { Order } from './order-model.ts'
import { returnOf } from './order-model.ts'
import { minorOf, shown } from './order-model-money.ts'

// An order as details show it, with 'time' for a time.
export function view(order: Order): object {
  const { id, state, operation, currency, amount, link } = order
  const isClosed = state === 'completed' || state === 'cancelled'
  const destination = minorOf(amount, currency)! - order.fee
  const particulars = {
    withdrawal: {
      currency,
      amount,
      destination_amount: shown(destination, currency, amount),
      fee_amount: shown(order.fee, currency, amount),
      type: 'outgoing_instruction',
      outgoing_instruction: { instruction_id: link },
    },
    top_up: { currency, amount },
    withdrawal_return: { currency, amount, order_id: link },
  }[operation]
  return {
    id,
    state,
    reference_id: order.reference,
    operation,
    created_at: 'time',
    processed_at: order.confirmed ? 'time' : null,
    last_updated_at: 'time',
    settlement: { currency, amount, operation: operation === 'withdrawal' ? 'debit' : 'credit' },
    [operation]: particulars,
    state_reason: order.reason,
    expires_at: operation === 'withdrawal' ? 'time' : null,
    closed_at: isClosed ? 'time' : null,
  }
}

export function operatorView(order: Order): object {
  const taken = order.takenBy !== null
  return {
    ...view(order),
    partner_id: order.partner,
    payout_id: taken ? 'id' : null,
    taken_at: taken ? 'time' : null,
    taken_by: order.takenBy,
    destination: order.currency,
  }
}

const times = ['created_at', 'processed_at', 'last_updated_at', 'expires_at', 'closed_at', 'taken_at'] as const

// An order as the service shows it, in the model's form.
export function plain(shownOrder: Body): Body {
  const order = { ...shownOrder }
  if (order.withdrawal_return) order.id = returnOf(order.withdrawal_return.order_id)
  for (const time of times) if (typeof order[time] === 'string') order[time] = 'time'
  if (!('payout_id' in order)) return order
  if (order.payout_id !== null) order.payout_id = 'id'
  order.taken_by =
    order.taken_by === null ? null : /^operator (\S+) \(|^(sandbox rail)$/.exec(order.taken_by)?.slice(1).join('')
  order.destination = order.destination?.currency ?? null
  return order
}

// What the partner is shown of what the operator is shown.
export function partnerPart(shownOrder: Body): Body {
  const { partner_id, payout_id, taken_at, taken_by, destination, ...order } = shownOrder
  return order
}
