// One partner: its state, its keys, funds that arrived, and where its configuration is.
import { useRef, useState } from 'react'
import { refresh, useRead } from '../../api/cache.ts'
import { onceKey, send } from '../../api/http.ts'
import type { Partner } from '../../api/operator-types.ts'
import { Link } from '../../app/router.tsx'
import { LinkButton } from '../../ui/button.tsx'
import { CurlButton, Id } from '../../ui/copy.tsx'
import { Ask } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/fields.tsx'
import { GuardedButton } from '../../ui/guarded.tsx'
import { Loaded, Notice } from '../../ui/notice.tsx'
import { isDecimal } from '../../ui/number.ts'
import { Card, Facts, Page } from '../../ui/page.tsx'
import { Time } from '../../ui/time.tsx'
import { useToast } from '../../ui/toast.tsx'
import { AuditTable } from './audit-table.tsx'
import { PartnerKeys } from './partner-keys.tsx'
import { PartnerState } from './partners.tsx'

export function PartnerPage({ id }: { id: string }) {
  const path = `/partners/${encodeURIComponent(id)}`
  const read = useRead<Partner>(path)
  const [asking, setAsking] = useState<'state' | 'top-up'>()
  const partner = read.data
  return (
    <Page
      title={partner?.name ?? 'Partner'}
      name={partner?.name ?? 'Partner'}
      about={<Id id={id} what="partner id" />}
      back={{ to: '/partners', label: 'Partners' }}
      actions={
        partner && (
          <>
            <CurlButton call={{ path }} />
            <GuardedButton needs="payouts" icon="plus" onClick={() => setAsking('top-up')}>
              Credit funds
            </GuardedButton>
            <GuardedButton
              needs="support"
              icon={partner.state === 'active' ? 'pause' : 'check'}
              onClick={() => setAsking('state')}
            >
              {partner.state === 'active' ? 'Suspend' : 'Activate'}
            </GuardedButton>
            <LinkButton look="primary" icon="edit" to={`${path}/configuration`}>
              Configuration
            </LinkButton>
          </>
        )
      }
    >
      <Loaded read={read}>
        {(shown) => (
          <>
            {shown.state === 'suspended' && (
              <Notice kind="warn" icon="pause" title="This partner is suspended">
                <p>Its API calls are refused. Its events are kept and wait; confirmed orders run on.</p>
              </Notice>
            )}
            <Card title="About">
              <Facts
                facts={[
                  ['State', <PartnerState key="s" state={shown.state} />],
                  [
                    'Configuration',
                    <span key="c">
                      version {shown.configuration_version} · <Link to={`${path}/versions`}>compare versions</Link>
                    </span>,
                  ],
                  ['Created', <Time key="t" at={shown.created_at} look="full" />],
                  [
                    'Orders',
                    <Link key="o" to={`/orders?partner_id=${shown.id}`}>
                      orders of this partner
                    </Link>,
                  ],
                ]}
              />
            </Card>
            <PartnerKeys path={path} />
            <Card title="What was done" flush actions={<Link to={`/audit-log?partner_id=${shown.id}`}>All of it</Link>}>
              <AuditTable partnerId={shown.id} limit={8} />
            </Card>
            {asking === 'state' && <ChangeState partner={shown} path={path} onClose={() => setAsking(undefined)} />}
            {asking === 'top-up' && <TopUp path={path} onClose={() => setAsking(undefined)} />}
          </>
        )}
      </Loaded>
    </Page>
  )
}

function ChangeState({ partner, path, onClose }: { partner: Partner; path: string; onClose: () => void }) {
  const suspend = partner.state === 'active'
  return (
    <Ask
      title={`${suspend ? 'Suspend' : 'Activate'} ${partner.name}?`}
      verb={suspend ? 'Suspend' : 'Activate'}
      look={suspend ? 'danger' : 'primary'}
      act={() => send('PATCH', path, { state: suspend ? 'suspended' : 'active' })}
      onDone={() => refresh('/partners', '/audit-log')}
      onClose={onClose}
    >
      <p>
        {suspend
          ? 'Its API calls are refused within a second. Nothing of it is lost: its events are kept and wait.'
          : 'Its API calls are accepted again, and what waited is delivered.'}
      </p>
    </Ask>
  )
}

function TopUp({ path, onClose }: { path: string; onClose: () => void }) {
  const [currency, setCurrency] = useState('')
  const [amount, setAmount] = useState('')
  const [reference, setReference] = useState('')
  const once = useRef(onceKey())
  const toast = useToast()
  const body = { currency: currency.trim(), amount: amount.trim(), reference_id: reference.trim() }
  return (
    <Ask
      title="Credit funds that arrived"
      verb="Credit"
      act={() => send('POST', `${path}/top-ups`, body, once.current)}
      onDone={() => {
        toast.say('Credited.')
        refresh('/orders', '/audit-log')
      }}
      onClose={onClose}
      disabled={!isDecimal(body.amount) || body.currency === '' || body.reference_id === ''}
    >
      <div className="form-row">
        <TextField label="Currency" placeholder="ARS" value={currency} onText={setCurrency} />
        <TextField label="Amount" inputMode="decimal" placeholder="1000.00" value={amount} onText={setAmount} />
      </div>
      <TextField label="Reference" hint="Of the transfer; credited only once" value={reference} onText={setReference} />
    </Ask>
  )
}
