// The settlement accounts with their balances.
import { useRef, useState } from 'react'
import { refresh, useRead } from '../../api/cache.ts'
import { onceKey, send } from '../../api/http.ts'
import type { Page as PageOf, SettlementAccount } from '../../api/types.ts'
import { useCalmly, useLive } from '../../app/live.tsx'
import { Link, segment } from '../../app/router.tsx'
import { usePartnerSession } from '../../app/session.tsx'
import { CurlButton } from '../../ui/copy.tsx'
import { Ask } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/fields.tsx'
import { GuardedButton } from '../../ui/guarded.tsx'
import { Empty, Loaded } from '../../ui/notice.tsx'
import { isDecimal, money } from '../../ui/number.ts'
import { Card, Page } from '../../ui/page.tsx'
import { Time } from '../../ui/time.tsx'
import { useToast } from '../../ui/toast.tsx'

const path = '/partner/settlement-accounts'

export function BalancesPage() {
  const accounts = useRead<PageOf<'settlement_accounts', SettlementAccount>>(path)
  const { mode } = usePartnerSession()
  const [adding, setAdding] = useState(false)
  useLive(
    'order',
    useCalmly(() => refresh(path), 1_000),
  )
  return (
    <Page
      title="Balances"
      name="Balances"
      about="Your settlement accounts"
      actions={
        <>
          <CurlButton call={{ path }} />
          {mode === 'sandbox' && (
            <GuardedButton needs="orders:write" icon="plus" onClick={() => setAdding(true)}>
              Let funds arrive
            </GuardedButton>
          )}
        </>
      }
    >
      <Loaded read={accounts}>
        {({ settlement_accounts }) =>
          settlement_accounts.length === 0 ? (
            <Card>
              <Empty icon="balances" title="No account yet">
                An account appears with the first funds in its currency.
              </Empty>
            </Card>
          ) : (
            <div className="balance-grid">
              {settlement_accounts.map(({ currency, available, held, updated_at }) => (
                <Link key={currency} to={`/balances/${segment(currency)}`} className="balance">
                  <span className="balance-currency">{currency}</span>
                  <span className="balance-available">{money(available)}</span>
                  <span className="sub">
                    {money(held)} held · changed <Time at={updated_at} look="ago" />
                  </span>
                </Link>
              ))}
            </div>
          )
        }
      </Loaded>
      {adding && <TopUp onClose={() => setAdding(false)} />}
    </Page>
  )
}

// Only in a sandbox.
function TopUp({ onClose }: { onClose: () => void }) {
  const [currency, setCurrency] = useState('ARS')
  const [amount, setAmount] = useState('100000.00')
  const once = useRef(onceKey())
  const toast = useToast()
  const body = { currency: currency.trim(), amount: amount.trim() }
  return (
    <Ask
      title="Let funds arrive"
      verb="Top up"
      act={() => send('POST', '/sandbox/top-ups', body, once.current)}
      onDone={() => {
        refresh('/partner/')
        toast.say('The funds have arrived.')
      }}
      onClose={onClose}
      disabled={!isDecimal(body.amount) || body.currency === ''}
    >
      <p className="about">As if you had sent money to the platform.</p>
      <div className="form-row">
        <TextField label="Currency" value={currency} onText={setCurrency} />
        <TextField label="Amount" inputMode="decimal" value={amount} onText={setAmount} />
      </div>
    </Ask>
  )
}
