// The partner's pages by address.
import { useEffect } from 'react'
import { navigation } from '../../app/nav.ts'
import { navigate, usePath } from '../../app/router.tsx'
import { usePartnerSession } from '../../app/session.tsx'
import { type Route, Routed } from '../routed.tsx'
import { AccountPage } from './account.tsx'
import { BalancesPage } from './balances.tsx'
import { DestinationPage } from './destination.tsx'
import { DestinationsPage } from './destinations.tsx'
import { EventPage } from './event.tsx'
import { EventsPage } from './events.tsx'
import { KeysPage } from './keys.tsx'
import { NewDestinationPage } from './new-destination.tsx'
import { NewOrderPage } from './new-order.tsx'
import { OrderPage } from './order.tsx'
import { OrdersPage } from './orders.tsx'
import { OverviewPage } from './overview.tsx'
import { RequestsPage } from './requests.tsx'
import { StatementPage } from './statement.tsx'
import { SubscriptionPage } from './subscription.tsx'
import { EditSubscriptionPage, NewSubscriptionPage } from './subscription-form.tsx'
import { SubscriptionsPage } from './subscriptions.tsx'

const routes: readonly Route[] = [
  ['/', 'webhooks:read', () => <OverviewPage />],
  ['/events', 'webhooks:read', () => <EventsPage />],
  ['/events/:id', 'webhooks:read', ({ id }) => <EventPage id={id!} />],
  ['/subscriptions', 'webhooks:read', () => <SubscriptionsPage />],
  ['/subscriptions/new', 'webhooks:write', () => <NewSubscriptionPage />],
  ['/subscriptions/:id', 'webhooks:read', ({ id }) => <SubscriptionPage id={id!} />],
  ['/subscriptions/:id/edit', 'webhooks:write', ({ id }) => <EditSubscriptionPage id={id!} />],
  ['/orders', 'orders:read', () => <OrdersPage />],
  ['/orders/new', 'orders:write', () => <NewOrderPage />],
  ['/orders/:id', 'orders:read', ({ id }) => <OrderPage id={id!} />],
  ['/destinations', 'orders:read', () => <DestinationsPage />],
  ['/destinations/new', 'orders:write', () => <NewDestinationPage />],
  ['/destinations/:id', 'orders:read', ({ id }) => <DestinationPage id={id!} />],
  ['/balances', 'orders:read', () => <BalancesPage />],
  ['/balances/:currency', 'orders:read', ({ currency }) => <StatementPage currency={currency!} />],
  ['/account', 'partner:read', () => <AccountPage />],
  ['/keys', 'keys:write', () => <KeysPage />],
  ['/requests', 'partner:read', () => <RequestsPage />],
  ['/requests/:id', 'partner:read', ({ id }) => <RequestsPage id={id!} />],
]

export default function PartnerPages() {
  const path = usePath()
  const { scopes } = usePartnerSession()
  // A key that cannot see the overview begins with the first page that it can see.
  const start = navigation.flatMap((group) => group.items).find(({ needs }) => scopes.includes(needs as never))
  const elsewhere = path === '/' && start && start.to !== '/' ? start.to : undefined
  useEffect(() => {
    if (elsewhere !== undefined) navigate(elsewhere, { replace: true })
  }, [elsewhere])
  if (elsewhere !== undefined) return null
  return <Routed routes={routes} path={path} />
}
