// The page of an address, or why there is none: nothing is there, or the caller may not see it. Then nothing is asked of the service.
import type { ReactNode } from 'react'
import type { Role, Scope } from '../api/types.ts'
import { match } from '../app/router.tsx'
import { lackOf, useSession } from '../app/session.tsx'
import { LinkButton } from '../ui/button.tsx'
import { Empty } from '../ui/notice.tsx'
import { Page } from '../ui/page.tsx'

// Address, what one needs to see anything there, and the page.
export type Route = readonly [string, Scope | Role, (parameters: Record<string, string>) => ReactNode]

export function Routed({ routes, path }: { routes: readonly Route[]; path: string }) {
  const { session } = useSession()
  for (const [pattern, needs, show] of routes) {
    const parameters = match(pattern, path)
    if (!parameters) continue
    const lack = lackOf(session, needs)
    return lack === undefined ? show(parameters) : <NotForThisKey lack={lack} />
  }
  return (
    <Page title="Nothing here" name="Not found">
      <Empty
        icon="search"
        title="There is no page at this address"
        action={<LinkButton to="/">To the start</LinkButton>}
      />
    </Page>
  )
}

function NotForThisKey({ lack }: { lack: string }) {
  return (
    <Page title="Not allowed" name="Not allowed">
      <Empty icon="keys" title="This is not for this key">
        {lack} Sign in with another one, or ask whoever manages them.
      </Empty>
    </Page>
  )
}
