// The states of an order as one table: what may happen in which state, what it does to the money, and which event tells of it.
// The code that changes orders, the docs and the tests all read this table.
import type { Action } from '../webhooks/catalogue.ts'

export const orderStates = ['awaiting_confirmation', 'pending', 'processing', 'completed', 'cancelled'] as const
export type OrderState = (typeof orderStates)[number]

export const operations = ['withdrawal', 'top_up', 'withdrawal_return'] as const
export type Operation = (typeof operations)[number]

export const entryKinds = ['top_up', 'hold', 'release', 'payout', 'return'] as const
export type EntryKind = (typeof entryKinds)[number]

export interface Transition {
  readonly trigger: Trigger
  readonly by: 'partner' | 'operator' | 'rail' | 'time'
  readonly from: OrderState
  readonly to: OrderState
  readonly reason: string | null // the order's `state_reason` from then on
  readonly entry: EntryKind | null // what is posted to the settlement account
  readonly event: Action
}

export type Trigger = 'confirm' | 'cancel' | 'cancel_by_operator' | 'expire' | 'take' | 'release' | 'complete' | 'fail'

const updated = 'partner-order-updated'
const closed = 'partner-order-closed'

// biome-ignore format: a table reads best as one
export const transitions: readonly Transition[] = [
  { trigger: 'confirm', by: 'partner', from: 'awaiting_confirmation', to: 'pending', reason: null, entry: 'hold', event: updated },
  { trigger: 'cancel', by: 'partner', from: 'awaiting_confirmation', to: 'cancelled', reason: 'cancelled_by_partner', entry: null, event: closed },
  { trigger: 'cancel_by_operator', by: 'operator', from: 'awaiting_confirmation', to: 'cancelled', reason: 'cancelled_by_operator', entry: null, event: closed },
  { trigger: 'expire', by: 'time', from: 'awaiting_confirmation', to: 'cancelled', reason: 'expired', entry: null, event: closed },
  { trigger: 'cancel_by_operator', by: 'operator', from: 'pending', to: 'cancelled', reason: 'cancelled_by_operator', entry: 'release', event: closed },
  { trigger: 'take', by: 'rail', from: 'pending', to: 'processing', reason: null, entry: null, event: updated },
  { trigger: 'release', by: 'operator', from: 'processing', to: 'pending', reason: null, entry: null, event: updated },
  { trigger: 'complete', by: 'rail', from: 'processing', to: 'completed', reason: null, entry: 'payout', event: closed },
  { trigger: 'fail', by: 'rail', from: 'processing', to: 'cancelled', reason: 'payout_failed', entry: 'release', event: closed },
]

export function transitionFrom(state: OrderState, trigger: Trigger): Transition | undefined {
  return transitions.find((each) => each.from === state && each.trigger === trigger)
}

export function isClosed(state: OrderState): boolean {
  return state === 'completed' || state === 'cancelled'
}
