// How orders are put into words and amounts.
import type { Order } from '../../api/types.ts'
import { money } from '../../ui/number.ts'

export const operationWords: Record<Order['operation'], string> = {
  withdrawal: 'Withdrawal',
  top_up: 'Top-up',
  withdrawal_return: 'Returned withdrawal',
}

const reasons: Record<string, string> = {
  cancelled_by_partner: 'You cancelled it.',
  cancelled_by_operator: 'The platform cancelled it.',
  expired: 'It was not confirmed in time.',
  payout_failed: 'The bank could not pay it. The funds were given back.',
}

export function reasonWords(reason: string | null): string {
  return reason === null ? '' : (reasons[reason] ?? reason)
}

export function Amount({ order }: { order: Order }) {
  const { amount, currency, operation } = order.settlement
  return (
    <span className={`amount ${operation === 'credit' ? 'good-text' : ''}`}>
      {operation === 'credit' ? '+' : '−'}
      {money(amount)} <span className="currency">{currency}</span>
    </span>
  )
}
