// What the menus list: each page with the scope or role that it needs to show anything.
import { listener } from '../api/http.ts'
import type { Role, Scope } from '../api/types.ts'
import type { IconName } from '../ui/icon.tsx'

export interface NavItem {
  readonly to: string
  readonly label: string
  readonly icon: IconName
  readonly needs: Scope | Role
}

const partner: readonly { title?: string; items: readonly NavItem[] }[] = [
  { items: [{ to: '/', label: 'Overview', icon: 'overview', needs: 'webhooks:read' }] },
  {
    title: 'Webhooks',
    items: [
      { to: '/events', label: 'Events', icon: 'events', needs: 'webhooks:read' },
      { to: '/subscriptions', label: 'Subscriptions', icon: 'subscriptions', needs: 'webhooks:read' },
    ],
  },
  {
    title: 'Money',
    items: [
      { to: '/orders', label: 'Orders', icon: 'orders', needs: 'orders:read' },
      { to: '/destinations', label: 'Destinations', icon: 'destinations', needs: 'orders:read' },
      { to: '/balances', label: 'Balances', icon: 'balances', needs: 'orders:read' },
    ],
  },
  {
    title: 'Account',
    items: [
      { to: '/account', label: 'Configuration', icon: 'account', needs: 'partner:read' },
      { to: '/keys', label: 'API keys', icon: 'keys', needs: 'keys:write' },
      { to: '/requests', label: 'Request log', icon: 'requests', needs: 'partner:read' },
    ],
  },
]

const operator: readonly { title?: string; items: readonly NavItem[] }[] = [
  {
    items: [
      { to: '/', label: 'Delivery', icon: 'overview', needs: 'read' },
      { to: '/partners', label: 'Partners', icon: 'partners', needs: 'read' },
    ],
  },
  {
    title: 'Money',
    items: [
      { to: '/orders', label: 'Orders', icon: 'orders', needs: 'read' },
      { to: '/reconciliation', label: 'Reconciliation', icon: 'reconciliation', needs: 'read' },
    ],
  },
  {
    title: 'Service',
    items: [
      { to: '/audit-log', label: 'Audit log', icon: 'audit', needs: 'read' },
      { to: '/signing-keys', label: 'Signing keys', icon: 'signing', needs: 'read' },
      { to: '/tokens', label: 'Operator tokens', icon: 'tokens', needs: 'admin' },
    ],
  },
]

export const navigation = listener === 'operator' ? operator : partner

// Where an id leads, by its prefix.
export function placeOf(id: string): string | undefined {
  const places: Record<string, string> =
    listener === 'operator'
      ? { ptr: '/partners/', ord: '/orders/' }
      : { evt: '/events/', sub: '/subscriptions/', ord: '/orders/', oin: '/destinations/', req: '/requests/' }
  const place = places[/^([a-z]+)_\w+$/.exec(id)?.[1] ?? '']
  return place === undefined ? undefined : place + encodeURIComponent(id)
}
