// The partner's pages by address.
import { useEffect } from 'react'
import { navigation } from '../../app/nav.ts'
import { match, navigate, usePath } from '../../app/router.tsx'
import { usePartnerSession } from '../../app/session.tsx'
import { Missing } from '../missing.tsx'
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

const routes: readonly [string, (parameters: Record<string, string>) => React.ReactNode][] = [
  ['/', () => <OverviewPage />],
  ['/events', () => <EventsPage />],
  ['/events/:id', ({ id }) => <EventPage id={id!} />],
  ['/subscriptions', () => <SubscriptionsPage />],
  ['/subscriptions/new', () => <NewSubscriptionPage />],
  ['/subscriptions/:id', ({ id }) => <SubscriptionPage id={id!} />],
  ['/subscriptions/:id/edit', ({ id }) => <EditSubscriptionPage id={id!} />],
  ['/orders', () => <OrdersPage />],
  ['/orders/new', () => <NewOrderPage />],
  ['/orders/:id', ({ id }) => <OrderPage id={id!} />],
  ['/destinations', () => <DestinationsPage />],
  ['/destinations/new', () => <NewDestinationPage />],
  ['/destinations/:id', ({ id }) => <DestinationPage id={id!} />],
  ['/balances', () => <BalancesPage />],
  ['/balances/:currency', ({ currency }) => <StatementPage currency={currency!} />],
  ['/account', () => <AccountPage />],
  ['/keys', () => <KeysPage />],
  ['/requests', () => <RequestsPage />],
  ['/requests/:id', ({ id }) => <RequestsPage id={id!} />],
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
  for (const [pattern, show] of routes) {
    const parameters = match(pattern, path)
    if (parameters) return show(parameters)
  }
  return <Missing />
}
