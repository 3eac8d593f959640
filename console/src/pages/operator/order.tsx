// One order as whoever pays it sees it: how much, to whom, under which payout id.
import { useCallback } from 'react'
import { refresh, useEvery, useRead } from '../../api/cache.ts'
import type { OperatorOrder } from '../../api/operator-types.ts'
import { Link } from '../../app/router.tsx'
import { CurlButton, Id } from '../../ui/copy.tsx'
import { Loaded } from '../../ui/notice.tsx'
import { money } from '../../ui/number.ts'
import { Card, Facts, Page } from '../../ui/page.tsx'
import { OrderBadge } from '../../ui/status.tsx'
import { Time } from '../../ui/time.tsx'
import { fieldName, typeName } from '../partner/destination-words.tsx'
import { Amount, operationWords } from '../partner/order-words.tsx'
import { OrderActions } from './order-actions.tsx'

export function OperatorOrderPage({ id }: { id: string }) {
  const path = `/orders/${encodeURIComponent(id)}`
  const read = useRead<OperatorOrder>(path)
  const again = useCallback(() => refresh(path), [path])
  useEvery(5, again)
  const order = read.data
  return (
    <Page
      title={order ? <Amount order={order} /> : 'Order'}
      name="Order"
      about={<Id id={id} what="order id" />}
      back={{ to: '/orders', label: 'Orders' }}
      actions={
        order && (
          <>
            <CurlButton call={{ path }} />
            <OrderActions order={order} />
          </>
        )
      }
    >
      <Loaded read={read}>
        {(shown) => (
          <div className="columns">
            <Card title="Payout">
              <PayoutFacts order={shown} />
            </Card>
            <Card title="About">
              <Facts
                facts={[
                  ['State', <OrderBadge key="s" state={shown.state} />],
                  shown.state_reason !== null && ['Why', shown.state_reason],
                  ['Operation', operationWords[shown.operation] ?? shown.operation],
                  [
                    'Partner',
                    <Link key="p" to={`/partners/${shown.partner_id}`}>
                      {shown.partner_id}
                    </Link>,
                  ],
                  ['Reference', shown.reference_id ?? '–'],
                  ['Created', <Time key="c" at={shown.created_at} look="full" />],
                  ['Confirmed', <Time key="o" at={shown.processed_at} look="full" />],
                  ['Taken', <Time key="t" at={shown.taken_at} look="full" />],
                  ['Taken by', shown.taken_by ?? '–'],
                  ['Closed', <Time key="d" at={shown.closed_at} look="full" />],
                ]}
              />
            </Card>
          </div>
        )}
      </Loaded>
    </Page>
  )
}

function PayoutFacts({ order }: { order: OperatorOrder }) {
  const { withdrawal, destination } = order
  if (!withdrawal) return <p className="faint">Nothing is paid out: it credits the partner.</p>
  return (
    <Facts
      facts={[
        [
          'Pay',
          <strong key="p">
            {money(withdrawal.destination_amount)} {withdrawal.currency}
          </strong>,
        ],
        ['Fee kept', `${money(withdrawal.fee_amount)} ${withdrawal.currency}`],
        [
          'Payout id',
          order.payout_id === null ? (
            <span key="n" className="faint">
              when it is taken
            </span>
          ) : (
            <Id key="i" id={order.payout_id} what="payout id" />
          ),
        ],
        destination !== null && ['To', typeName(destination.type)],
        ...Object.entries(destination?.fields ?? {}).map(
          ([key, value]) => [fieldName(key), <Id key={key} id={value} what={fieldName(key)} />] as const,
        ),
      ]}
    />
  )
}
