// Who is signed in and what they may do. A session that ends anywhere (signed out, key revoked, expired) brings back the sign-in
// page at once and forgets everything that was read.
import { createContext, type ReactNode, useContext, useEffect, useState } from 'react'
import { forgetEverything } from '../api/cache.ts'
import { type ApiError, call, listener, onSignedOut, send, sessionPath } from '../api/http.ts'
import type { OperatorSession, PartnerSession, Role, Scope } from '../api/types.ts'

export type Session = PartnerSession | OperatorSession

interface SessionState {
  readonly session: Session
  readonly signOut: () => void
}

const SessionContext = createContext<SessionState | null>(null)

export type Standing =
  | { kind: 'asking' }
  | { kind: 'out'; ended: boolean }
  | { kind: 'in'; session: Session }
  | { kind: 'unreachable'; error: ApiError }

// Whether this browser was signed in: without it nobody has to be asked. It tells nothing else; the cookie is out of reach.
const mark = `console-signed-in-${listener}`
const marks = {
  get(): boolean {
    try {
      return window.localStorage.getItem(mark) !== null
    } catch {
      return true // storage may be forbidden: then the service is asked
    }
  },
  set(signedIn: boolean): void {
    try {
      if (signedIn) window.localStorage.setItem(mark, '1')
      else window.localStorage.removeItem(mark)
    } catch {} // as above
  },
}

// Whoever comes with a sign-in link wants that session, not the one before.
const wasIn = () => marks.get() && !window.location.hash.startsWith('#link=')

export function useStanding(): [Standing, (session: Session) => void, () => void] {
  const [standing, setStanding] = useState<Standing>(wasIn() ? { kind: 'asking' } : { kind: 'out', ended: false })
  const ask = () => {
    setStanding({ kind: 'asking' })
    call<Session>('GET', sessionPath).then(
      ({ data }) => setStanding({ kind: 'in', session: data }),
      (error: ApiError) => {
        if (error.status === 401) marks.set(false)
        setStanding(error.status === 401 ? { kind: 'out', ended: true } : { kind: 'unreachable', error })
      },
    )
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, at the start
  useEffect(() => {
    onSignedOut(() => {
      forgetEverything()
      marks.set(false)
      setStanding((now) => (now.kind === 'in' ? { kind: 'out', ended: true } : now))
    })
    if (standing.kind === 'asking') ask()
  }, [])
  const enter = (session: Session) => {
    forgetEverything()
    marks.set(true)
    setStanding({ kind: 'in', session })
  }
  return [standing, enter, ask]
}

export function SessionProvider({ session, children }: { session: Session; children: ReactNode }) {
  const signOut = () => {
    const leave = () => {
      marks.set(false)
      window.location.assign(listener === 'operator' ? '/' : '/console')
    }
    send('DELETE', sessionPath).then(leave, leave)
  }
  return <SessionContext value={{ session, signOut }}>{children}</SessionContext>
}

export function useSession(): SessionState {
  const state = useContext(SessionContext)
  if (!state) throw new Error('there is no session here')
  return state
}

export function usePartnerSession(): PartnerSession {
  return useSession().session as PartnerSession
}

// What is missing to do something that needs this, as a sentence; undefined when nothing is.
export function lackOf(session: Session, needs: Scope | Role): string | undefined {
  if ('scopes' in session) {
    return session.scopes.includes(needs as Scope) ? undefined : `This API key lacks the scope ${needs}.`
  }
  if (needs === 'read' || session.roles.includes('admin') || session.roles.includes(needs as Role)) return undefined
  return `This operator token lacks the role ${needs}.`
}

export function useLack(needs: Scope | Role): string | undefined {
  return lackOf(useSession().session, needs)
}

export function useMay(needs: Scope | Role): boolean {
  return useLack(needs) === undefined
}
