// The balances in short, for the overview.
import { refresh, useRead } from '../../api/cache.ts'
import type { Page, SettlementAccount } from '../../api/types.ts'
import { useCalmly, useLive } from '../../app/live.tsx'
import { Link, segment } from '../../app/router.tsx'
import { useMay } from '../../app/session.tsx'
import { Empty, Loaded } from '../../ui/notice.tsx'
import { money } from '../../ui/number.ts'
import { Card } from '../../ui/page.tsx'

export function Balances() {
  const may = useMay('orders:read')
  const accounts = useRead<Page<'settlement_accounts', SettlementAccount>>(may ? '/partner/settlement-accounts' : null)
  useLive(
    'order',
    useCalmly(() => refresh('/partner/settlement-accounts'), 1_000),
  )
  if (!may) return null
  return (
    <Card title="Balances" actions={<Link to="/balances">Statements</Link>}>
      <Loaded read={accounts}>
        {({ settlement_accounts }) =>
          settlement_accounts.length === 0 ? (
            <Empty icon="balances" title="No funds yet">
              An account appears with the first top-up.
            </Empty>
          ) : (
            <ul className="feed">
              {settlement_accounts.map(({ currency, available, held }) => (
                <li key={currency}>
                  <Link to={`/balances/${segment(currency)}`}>
                    <span className="feed-main">
                      <span>{currency}</span>
                      <span className="sub">{money(held)} held</span>
                    </span>
                    <span className="amount">{money(available)}</span>
                  </Link>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Card>
  )
}
