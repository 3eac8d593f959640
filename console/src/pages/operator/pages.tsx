// The operator's pages by address.
import { usePath } from '../../app/router.tsx'
import { type Route, Routed } from '../routed.tsx'
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

const routes: readonly Route[] = [
  ['/', 'read', () => <DeliveryPage />],
  ['/partners', 'read', () => <PartnersPage />],
  ['/partners/:id', 'read', ({ id }) => <PartnerPage id={id!} />],
  ['/partners/:id/configuration', 'read', ({ id }) => <ConfigurationPage id={id!} />],
  ['/partners/:id/versions', 'read', ({ id }) => <VersionsPage id={id!} />],
  ['/orders', 'read', () => <OperatorOrdersPage />],
  ['/orders/:id', 'read', ({ id }) => <OperatorOrderPage id={id!} />],
  ['/reconciliation', 'read', () => <ReconciliationPage />],
  ['/audit-log', 'read', () => <AuditLogPage />],
  ['/signing-keys', 'read', () => <SigningKeysPage />],
  ['/tokens', 'admin', () => <TokensPage />],
]

export default function OperatorPages() {
  return <Routed routes={routes} path={usePath()} />
}
