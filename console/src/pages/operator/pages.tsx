// The operator's pages by address.
import { match, usePath } from '../../app/router.tsx'
import { Missing } from '../missing.tsx'
import { AuditLogPage } from './audit-log.tsx'
import { ConfigurationPage } from './configuration.tsx'
import { DeliveryPage } from './delivery.tsx'
import { OperatorOrderPage } from './order.tsx'
import { OperatorOrdersPage } from './orders.tsx'
import { PartnerPage } from './partner.tsx'
import { PartnersPage } from './partners.tsx'
import { ReconciliationPage } from './reconciliation.tsx'
import { SigningKeysPage } from './signing-keys.tsx'
import { TokensPage } from './tokens.tsx'
import { VersionsPage } from './versions.tsx'

const routes: readonly [string, (parameters: Record<string, string>) => React.ReactNode][] = [
  ['/', () => <DeliveryPage />],
  ['/partners', () => <PartnersPage />],
  ['/partners/:id', ({ id }) => <PartnerPage id={id!} />],
  ['/partners/:id/configuration', ({ id }) => <ConfigurationPage id={id!} />],
  ['/partners/:id/versions', ({ id }) => <VersionsPage id={id!} />],
  ['/orders', () => <OperatorOrdersPage />],
  ['/orders/:id', ({ id }) => <OperatorOrderPage id={id!} />],
  ['/reconciliation', () => <ReconciliationPage />],
  ['/audit-log', () => <AuditLogPage />],
  ['/signing-keys', () => <SigningKeysPage />],
  ['/tokens', () => <TokensPage />],
]

export default function OperatorPages() {
  const path = usePath()
  for (const [pattern, show] of routes) {
    const parameters = match(pattern, path)
    if (parameters) return show(parameters)
  }
  return <Missing />
}
