// What is on screen: the sign-in page, or the shell with the page for this address. The pages of partners and of operators are
// loaded only where they are used.
import { lazy, Suspense } from 'react'
import { listener } from '../api/http.ts'
import { Button } from '../ui/button.tsx'
import { ErrorNotice } from '../ui/notice.tsx'
import { Toasts } from '../ui/toast.tsx'
import { Boundary } from './boundary.tsx'
import { LiveProvider } from './live.tsx'
import { usePath } from './router.tsx'
import { type Session, SessionProvider, useStanding } from './session.tsx'
import { Shell } from './shell.tsx'
import { SignIn } from './sign-in.tsx'

const Pages =
  listener === 'operator'
    ? lazy(() => import('../pages/operator/pages.tsx'))
    : lazy(() => import('../pages/partner/pages.tsx'))

export function App() {
  const [standing, enter, ask] = useStanding()
  return (
    <Toasts>
      {standing.kind === 'asking' && <div className="splash" aria-hidden="true" />}
      {standing.kind === 'unreachable' && (
        <main className="splash">
          <ErrorNotice error={standing.error} title="The console cannot reach the service">
            <Button onClick={ask}>Try again</Button>
          </ErrorNotice>
        </main>
      )}
      {standing.kind === 'out' && <SignIn ended={standing.ended} onSignedIn={enter} />}
      {standing.kind === 'in' && <SignedIn session={standing.session} />}
    </Toasts>
  )
}

function SignedIn({ session }: { session: Session }) {
  const path = usePath()
  const streams = 'scopes' in session && session.scopes.includes('webhooks:read')
  return (
    <SessionProvider session={session}>
      <LiveProvider enabled={streams}>
        <Shell>
          <Boundary key={path}>
            <Suspense fallback={null}>
              <Pages />
            </Suspense>
          </Boundary>
        </Shell>
      </LiveProvider>
    </SessionProvider>
  )
}
