// One order: what it moves, its confirmation with a clear summary, and the time line of its states.
import { useRef, useState } from 'react'
import { refresh, useRead } from '../../api/cache.ts'
import { onceKey, send } from '../../api/http.ts'
import type { Instruction, Order } from '../../api/types.ts'
import { useCalmly, useLive } from '../../app/live.tsx'
import { Link, segment } from '../../app/router.tsx'
import { usePartnerSession } from '../../app/session.tsx'
import { CurlButton, Id } from '../../ui/copy.tsx'
import { Ask } from '../../ui/dialog.tsx'
import { GuardedButton } from '../../ui/guarded.tsx'
import { Loaded } from '../../ui/notice.tsx'
import { money } from '../../ui/number.ts'
import { Card, Facts, Page } from '../../ui/page.tsx'
import { OrderBadge } from '../../ui/status.tsx'
import { Countdown, Time } from '../../ui/time.tsx'
import { useAction, useToast } from '../../ui/toast.tsx'
import { Destination } from './destination-words.tsx'
import { OrderTimeline } from './order-timeline.tsx'
import { Amount, operationWords, reasonWords } from './order-words.tsx'

export function OrderPage({ id }: { id: string }) {
  const path = `/partner/orders/${encodeURIComponent(id)}`
  const read = useRead<Order>(path)
  const order = read.data
  const again = useCalmly(() => refresh(path, '/webhooks/events'), 300)
  useLive('order', (changed) => changed.id === id && again())
  return (
    <Page
      title={order ? <Amount order={order} /> : 'Order'}
      name={order ? `${operationWords[order.operation]} order` : 'Order'}
      about={<Id id={id} what="order id" />}
      back={{ to: '/orders', label: 'Orders' }}
      actions={
        order && (
          <>
            <CurlButton call={{ path }} />
            <SandboxActions order={order} />
          </>
        )
      }
    >
      <Loaded read={read} lines={8}>
        {(shown) => (
          <div className="detail">
            <div className="detail-main">
              {shown.state === 'awaiting_confirmation' && <Confirmation order={shown} path={path} />}
              <Card title="Time line" about="Its states, and the events that each one caused">
                <OrderTimeline order={shown} />
              </Card>
            </div>
            <aside className="detail-side">
              <Card title="About">
                <OrderFacts order={shown} />
              </Card>
            </aside>
          </div>
        )}
      </Loaded>
    </Page>
  )
}

function OrderFacts({ order }: { order: Order }) {
  const { withdrawal, withdrawal_return: returned } = order
  return (
    <Facts
      facts={[
        ['State', <OrderBadge key="s" state={order.state} />],
        order.state_reason !== null && ['Why', reasonWords(order.state_reason)],
        ['Operation', operationWords[order.operation] ?? order.operation],
        [
          'Reference',
          order.reference_id === null ? (
            <span key="n" className="faint">
              none
            </span>
          ) : (
            <Id key="r" id={order.reference_id} what="reference" />
          ),
        ],
        withdrawal !== undefined && ['Arrives', `${money(withdrawal.destination_amount)} ${withdrawal.currency}`],
        withdrawal !== undefined && ['Fee', `${money(withdrawal.fee_amount)} ${withdrawal.currency}`],
        withdrawal !== undefined && [
          'Destination',
          <Link key="d" to={`/destinations/${withdrawal.outgoing_instruction.instruction_id}`}>
            {withdrawal.outgoing_instruction.instruction_id}
          </Link>,
        ],
        returned !== undefined && [
          'Returns',
          <Link key="w" to={`/orders/${returned.order_id}`}>
            {returned.order_id}
          </Link>,
        ],
        [
          'Account',
          <Link key="a" to={`/balances/${segment(order.settlement.currency)}`}>
            {order.settlement.currency}
          </Link>,
        ],
        ['Created', <Time key="c" at={order.created_at} look="full" />],
        ['Updated', <Time key="u" at={order.last_updated_at} look="full" />],
      ]}
    />
  )
}

function Confirmation({ order, path }: { order: Order; path: string }) {
  const { withdrawal } = order
  const instructionId = withdrawal?.outgoing_instruction.instruction_id
  const instruction = useRead<Instruction>(
    instructionId === undefined ? null : `/partner/outgoing-instructions/${encodeURIComponent(instructionId)}`,
  )
  const [asking, setAsking] = useState<'confirm' | 'cancel'>()
  const once = useRef(onceKey())
  const toast = useToast()
  if (!withdrawal) return null
  const done = (words: string) => () => {
    refresh('/partner/', '/webhooks/')
    toast.say(words)
  }
  const summary = (
    <dl className="summary">
      <div>
        <dt>Debited from your {withdrawal.currency} account</dt>
        <dd>
          {money(withdrawal.amount)} {withdrawal.currency}
        </dd>
      </div>
      <div>
        <dt>Fee</dt>
        <dd>
          {money(withdrawal.fee_amount)} {withdrawal.currency}
        </dd>
      </div>
      <div className="total">
        <dt>Arrives</dt>
        <dd>
          {money(withdrawal.destination_amount)} {withdrawal.currency}
        </dd>
      </div>
      <div className="to">
        <dt>At</dt>
        <dd>{instruction.data ? <Destination instruction={instruction.data} /> : instructionId}</dd>
      </div>
    </dl>
  )
  return (
    <Card
      title="Confirm this withdrawal"
      about={
        order.expires_at && (
          <>
            Nothing has moved yet. It can be confirmed for <Countdown until={order.expires_at} past="0 s" /> more.
          </>
        )
      }
    >
      {summary}
      {instruction.error?.status === 404 && (
        <p className="bad-text">The destination was deleted: it cannot be confirmed any more.</p>
      )}
      <div className="form-foot">
        <GuardedButton needs="orders:confirm" look="primary" icon="check" onClick={() => setAsking('confirm')}>
          Confirm
        </GuardedButton>
        <GuardedButton needs="orders:write" onClick={() => setAsking('cancel')}>
          Cancel the order
        </GuardedButton>
        <CurlButton call={{ method: 'POST', path: `${path}/confirm` }} label="Confirm as curl" />
      </div>
      {asking === 'confirm' && (
        <Ask
          title={`Pay ${money(withdrawal.destination_amount)} ${withdrawal.currency}?`}
          verb="Confirm and pay"
          act={() => send('POST', `${path}/confirm`, undefined, once.current)}
          onDone={done('Confirmed. The funds are held, and the payout is under way.')}
          onClose={() => setAsking(undefined)}
        >
          {summary}
          <p className="about">Once confirmed it cannot be cancelled from here.</p>
        </Ask>
      )}
      {asking === 'cancel' && (
        <Ask
          title="Cancel this order?"
          verb="Cancel the order"
          look="danger"
          act={() => send('POST', `${path}/cancel`, undefined, onceKey())}
          onDone={done('Cancelled.')}
          onClose={() => setAsking(undefined)}
        >
          <p>Nothing has moved, and nothing will.</p>
        </Ask>
      )}
    </Card>
  )
}

// Only in a sandbox: what the bank would do.
function SandboxActions({ order }: { order: Order }) {
  const { mode } = usePartnerSession()
  const [busy, run] = useAction()
  if (mode !== 'sandbox' || order.operation !== 'withdrawal') return null
  if (order.state !== 'pending' && order.state !== 'processing') return null
  const act = (verb: 'complete' | 'fail') =>
    run(async () => {
      await send('POST', `/sandbox/orders/${order.id}/${verb}`)
      refresh('/partner/', '/webhooks/')
    })
  return (
    <>
      <GuardedButton needs="orders:write" busy={busy} onClick={() => act('complete')}>
        Let the bank pay
      </GuardedButton>
      <GuardedButton needs="orders:write" onClick={() => act('fail')}>
        Let it fail
      </GuardedButton>
    </>
  )
}
