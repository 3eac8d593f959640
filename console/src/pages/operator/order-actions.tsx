// What an operator can do with an order in its state: take, complete, fail, release, cancel, return. Each asks first.
import { useRef, useState } from 'react'
import { refresh } from '../../api/cache.ts'
import { onceKey, send } from '../../api/http.ts'
import type { OperatorOrder } from '../../api/operator-types.ts'
import type { OrderState, Role } from '../../api/types.ts'
import { Ask } from '../../ui/dialog.tsx'
import { GuardedButton } from '../../ui/guarded.tsx'
import { money } from '../../ui/number.ts'
import { useToast } from '../../ui/toast.tsx'

interface Act {
  readonly name: 'take' | 'complete' | 'fail' | 'release' | 'cancel' | 'return'
  readonly label: string
  readonly needs: Role
  readonly from: readonly OrderState[]
  readonly words: string
  readonly done: string
  readonly danger?: boolean
}

const acts: readonly Act[] = [
  {
    name: 'take',
    label: 'Take',
    needs: 'payouts',
    from: ['pending'],
    words:
      'You will pay it. Nobody else can take it until you release it. The payout id to give to the bank is shown afterwards.',
    done: 'Taken: give its payout id to the bank.',
  },
  {
    name: 'complete',
    label: 'Complete',
    needs: 'payouts',
    from: ['processing'],
    words: 'The bank has paid it. This cannot be undone.',
    done: 'Completed.',
  },
  {
    name: 'fail',
    label: 'Fail',
    needs: 'payouts',
    from: ['processing'],
    words: 'The bank could not pay it. The order is cancelled and the held funds are given back.',
    done: 'Failed: the funds were given back.',
    danger: true,
  },
  {
    name: 'release',
    label: 'Release',
    needs: 'payouts',
    from: ['processing'],
    words: 'Only when it is certain that the bank was not told. It can be taken again, with the same payout id.',
    done: 'Released.',
    danger: true,
  },
  {
    name: 'cancel',
    label: 'Cancel',
    needs: 'support',
    from: ['awaiting_confirmation', 'pending'],
    words: 'Held funds are given back to the partner.',
    done: 'Cancelled.',
    danger: true,
  },
  {
    name: 'return',
    label: 'Bank returned it',
    needs: 'payouts',
    from: ['completed'],
    words: 'What was paid is credited back by a linked order; the fee stays.',
    done: 'Credited back.',
  },
]

export function OrderActions({ order, small = false }: { order: OperatorOrder; small?: boolean }) {
  const [asking, setAsking] = useState<Act>()
  const once = useRef(onceKey())
  const toast = useToast()
  const possible = acts.filter(({ from }) => order.operation === 'withdrawal' && from.includes(order.state))
  const shown = small ? possible.filter(({ name }) => name !== 'release' && name !== 'return') : possible
  return (
    <span className="row-actions">
      {shown.map((act) => (
        <GuardedButton
          key={act.name}
          needs={act.needs}
          small={small}
          look={
            act.name === 'take' || act.name === 'complete' ? (small ? 'plain' : 'primary') : small ? 'quiet' : 'plain'
          }
          aria-label={small ? `${act.label} ${order.id}` : undefined}
          onClick={() => setAsking(act)}
        >
          {act.label}
        </GuardedButton>
      ))}
      {asking && (
        <Ask
          title={`${asking.label}: ${money(order.settlement.amount)} ${order.settlement.currency}`}
          verb={asking.label}
          look={asking.danger ? 'danger' : 'primary'}
          act={() => send('POST', `/orders/${order.id}/${asking.name}`, undefined, once.current)}
          onDone={() => {
            once.current = onceKey()
            toast.say(asking.done)
            refresh('/orders', '/audit-log')
          }}
          onClose={() => setAsking(undefined)}
        >
          <p>{asking.words}</p>
          <p className="mono small-text soft">{order.id}</p>
        </Ask>
      )}
    </span>
  )
}
