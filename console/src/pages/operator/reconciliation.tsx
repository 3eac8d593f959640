// Reconciliation: whether every balance and every order agree with the postings, proven on demand.
import { useState } from 'react'
import { type ApiError, get, toApiError } from '../../api/http.ts'
import type { Reconciliation } from '../../api/operator-types.ts'
import { Link } from '../../app/router.tsx'
import { Button } from '../../ui/button.tsx'
import { CurlButton } from '../../ui/copy.tsx'
import { Empty, ErrorNotice, Notice } from '../../ui/notice.tsx'
import { compact, plural } from '../../ui/number.ts'
import { Card, Figure, Page } from '../../ui/page.tsx'
import { Table } from '../../ui/table.tsx'
import { Time } from '../../ui/time.tsx'

const path = '/reconciliation'

export function ReconciliationPage() {
  const [result, setResult] = useState<{ report: Reconciliation; at: string }>()
  const [error, setError] = useState<ApiError>()
  const [busy, setBusy] = useState(false)
  const run = async () => {
    setBusy(true)
    setError(undefined)
    try {
      setResult({ report: await get<Reconciliation>(path), at: new Date().toISOString() })
    } catch (failure) {
      setError(toApiError(failure))
    } finally {
      setBusy(false)
    }
  }
  const button = (
    <Button look="primary" icon="reconciliation" busy={busy} onClick={run}>
      Reconcile now
    </Button>
  )
  return (
    <Page
      title="Reconciliation"
      name="Reconciliation"
      about="Adds up every posting and compares it with balances and orders, partner by partner"
      actions={
        <>
          <CurlButton call={{ path }} />
          {result && button}
        </>
      }
    >
      {error && <ErrorNotice error={error} />}
      {!result && !error && (
        <Card>
          <Empty icon="reconciliation" title="Not run from here yet" action={button}>
            It reads everything and changes nothing.
          </Empty>
        </Card>
      )}
      {result && <Report {...result} />}
    </Page>
  )
}

function Report({ report: { agrees, checked, discrepancies }, at }: { report: Reconciliation; at: string }) {
  return (
    <>
      <div role="status">
        <Notice
          kind={agrees ? 'good' : 'bad'}
          title={agrees ? 'The books agree' : `${plural(discrepancies.length, 'discrepancy', 'discrepancies')} found`}
        >
          <p>
            Checked <Time at={at} look="full" />
          </p>
        </Notice>
      </div>
      <div className="figures">
        {Object.entries(checked).map(([what, count]) => (
          <Figure
            key={what}
            name={what.charAt(0).toUpperCase() + what.slice(1)}
            value={compact(count)}
            note="checked"
          />
        ))}
      </div>
      {discrepancies.length > 0 && (
        <Card title="What does not agree" flush>
          <Table
            label="Discrepancies"
            rows={discrepancies}
            keyOf={(each) => `${each.partner_id} ${each.currency} ${each.order_id} ${each.entry} ${each.problem}`}
            columns={[
              { name: 'Problem', wide: true, cell: ({ problem }) => problem },
              { name: 'Partner', cell: ({ partner_id }) => <Link to={`/partners/${partner_id}`}>{partner_id}</Link> },
              { name: 'Currency', cell: ({ currency }) => currency ?? '–' },
              {
                name: 'Order',
                cell: ({ order_id }) => (order_id ? <Link to={`/orders/${order_id}`}>{order_id}</Link> : '–'),
              },
              { name: 'Entry', end: true, cell: ({ entry }) => entry ?? '–' },
            ]}
          />
        </Card>
      )}
    </>
  )
}
