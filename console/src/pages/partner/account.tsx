// Everything that the account is configured for, readable: what GET /partner answers.
import { useRead } from '../../api/cache.ts'
import type { Account } from '../../api/types.ts'
import { CurlButton } from '../../ui/copy.tsx'
import { Loaded } from '../../ui/notice.tsx'
import { money } from '../../ui/number.ts'
import { Card, Facts, Page } from '../../ui/page.tsx'
import { Badge, words } from '../../ui/status.tsx'
import { type Column, Table } from '../../ui/table.tsx'
import { fieldName, typeName } from './destination-words.tsx'
import { ruleWords } from './field-rules.ts'

type Asset = Account['available_assets'][number]
type Investment = Account['available_investments'][number]

const operations = ['buy', 'sell', 'send', 'receive', 'transfer']
const kycWords: Record<string, string> = {
  no_kyc: 'None is collected',
  partner_collect: 'You collect it',
  service_collect: 'The platform collects it',
}

const assetColumns: readonly Column<Asset>[] = [
  { name: 'Asset', cell: ({ id }) => <strong>{id}</strong> },
  { name: 'Decimals', end: true, cell: ({ decimal_places }) => decimal_places },
  ...operations.map((operation) => ({
    name: words(operation),
    cell: ({ allowed_operations }: Asset) =>
      allowed_operations.includes(operation) ? (
        <span className="good-text">Yes</span>
      ) : (
        <span className="faint">–</span>
      ),
  })),
]

const investmentColumns: readonly Column<Investment>[] = [
  {
    name: 'Investment',
    wide: true,
    cell: ({ name, id }) => (
      <>
        <strong>{name}</strong>
        <span className="sub mono">{id}</span>
      </>
    ),
  },
  {
    name: 'State',
    cell: ({ enabled }) => <Badge tone={enabled ? 'good' : 'none'}>{enabled ? 'Enabled' : 'Off'}</Badge>,
  },
  {
    name: 'Asset',
    cell: ({ quote_asset, network }) => (
      <>
        {quote_asset}
        <span className="sub">{network}</span>
      </>
    ),
  },
  {
    name: 'Subscribe',
    end: true,
    cell: ({ subscription }) => `${money(subscription.min_amount)} – ${money(subscription.max_amount)}`,
  },
  {
    name: 'Redeem',
    end: true,
    cell: ({ redemption }) =>
      /^[0.]+$/.test(redemption.max_amount)
        ? `from ${money(redemption.min_amount)}, no cap`
        : `${money(redemption.min_amount)} – ${money(redemption.max_amount)}`,
  },
  {
    name: 'Fee',
    end: true,
    cell: ({ fee }) =>
      fee.type.endsWith('percentage')
        ? `${fee.value} % of ${words(fee.type.replace(/_?percentage$/, '')).toLowerCase()}`
        : `${fee.value} (${words(fee.type)})`,
  },
  { name: 'Provider', hide: 'medium', cell: ({ provider_id }) => provider_id },
]

export function AccountPage() {
  const read = useRead<Account>('/partner')
  return (
    <Page
      title={read.data?.name ?? 'Configuration'}
      name="Configuration"
      about="What your account is configured for"
      actions={<CurlButton call={{ path: '/partner' }} />}
    >
      <Loaded read={read} lines={10}>
        {(account) => (
          <>
            <Card title="Account">
              <Facts
                facts={[
                  ['Name', account.name],
                  ['KYC', kycWords[account.kyc_mode] ?? account.kyc_mode],
                  ['Delegation', account.delegation_enabled ? 'Enabled' : 'Off'],
                  [
                    'Logo',
                    account.logo_url ? (
                      <code key="l">{account.logo_url}</code>
                    ) : (
                      <span key="n" className="faint">
                        none
                      </span>
                    ),
                  ],
                  [
                    'Products',
                    account.products.length === 0 ? (
                      <span key="n" className="faint">
                        none
                      </span>
                    ) : (
                      <span key="p" className="badges">
                        {account.products.map((product) => (
                          <Badge key={product} tone="info">
                            {words(product)}
                          </Badge>
                        ))}
                      </span>
                    ),
                  ],
                ]}
              />
            </Card>
            <Card title="Assets" flush={account.available_assets.length > 0}>
              {account.available_assets.length === 0 ? (
                <p className="faint">No asset is enabled.</p>
              ) : (
                <Table label="Assets" columns={assetColumns} rows={account.available_assets} keyOf={({ id }) => id} />
              )}
            </Card>
            <Card title="Investments" flush={account.available_investments.length > 0}>
              {account.available_investments.length === 0 ? (
                <p className="faint">No investment is enabled.</p>
              ) : (
                <Table
                  label="Investments"
                  columns={investmentColumns}
                  rows={account.available_investments}
                  keyOf={({ id }) => id}
                />
              )}
            </Card>
            <Instructions account={account} />
          </>
        )}
      </Loaded>
    </Page>
  )
}

function Instructions({ account }: { account: Account }) {
  const incoming = account.available_incoming_fiat_instructions ?? []
  const outgoing = account.available_outgoing_fiat_instructions ?? []
  return (
    <div className="columns">
      <Card title="Incoming instructions" about="Ways to receive fiat">
        {incoming.length === 0 ? (
          <p className="faint">None is enabled.</p>
        ) : (
          <ul className="rules">
            {incoming.map(({ type, creation_fees }) => (
              <li key={type}>
                <p className="rules-title">
                  {typeName(type)} <code>{type}</code>
                </p>
                <p className="soft">
                  {creation_fees.length === 0
                    ? 'Free to create'
                    : creation_fees
                        .map(
                          (fee) => `${money(fee.value)} ${fee.currency} (${words(fee.type).toLowerCase()}) to create`,
                        )
                        .join(', ')}
                </p>
              </li>
            ))}
          </ul>
        )}
      </Card>
      <Card title="Outgoing instructions" about="Ways to pay out, and what they ask for">
        {outgoing.length === 0 ? (
          <p className="faint">None is enabled.</p>
        ) : (
          <ul className="rules">
            {outgoing.map(({ type, currencies, required_fields }) => (
              <li key={type}>
                <p className="rules-title">
                  {typeName(type)} <code>{type}</code>{' '}
                  {currencies.map((each) => (
                    <Badge key={each}>{each}</Badge>
                  ))}
                </p>
                <dl className="facts tight">
                  {required_fields.map((field) => (
                    <div key={field.key}>
                      <dt>
                        {fieldName(field.key)} {field.optional && <span className="faint">optional</span>}
                      </dt>
                      <dd>{ruleWords(field) || words(field.type)}</dd>
                    </div>
                  ))}
                </dl>
              </li>
            ))}
          </ul>
        )}
      </Card>
    </div>
  )
}
