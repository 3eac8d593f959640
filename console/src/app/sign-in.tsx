// Signing in: with an API key (or an operator token), or by a link. A link is redeemed only when its button is pressed, so that
// programs which open links in mails cannot use it up, and its token leaves the address at once.
import { type FormEvent, useEffect, useState } from 'react'
import { type ApiError, listener, send, sessionPath, toApiError } from '../api/http.ts'
import { Button } from '../ui/button.tsx'
import { SecretField } from '../ui/fields.tsx'
import { ErrorNotice, Notice } from '../ui/notice.tsx'
import type { Session } from './session.tsx'

function takeLink(): string | undefined {
  const token = /^#link=([\w-]+)$/.exec(window.location.hash)?.[1]
  if (token !== undefined) window.history.replaceState(null, '', window.location.pathname + window.location.search)
  return token
}

export function SignIn({ ended, onSignedIn }: { ended: boolean; onSignedIn: (session: Session) => void }) {
  const [link, setLink] = useState<string | undefined>(takeLink)
  const [secret, setSecret] = useState('')
  const [error, setError] = useState<ApiError>()
  const [busy, setBusy] = useState(false)
  const operator = listener === 'operator'
  useEffect(() => {
    document.title = 'Sign in · Partner Service'
  }, [])

  const enter = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    setError(undefined)
    const body = link !== undefined ? { link } : operator ? { token: secret.trim() } : { secret: secret.trim() }
    try {
      onSignedIn(await send<Session>('POST', sessionPath, body))
    } catch (failure) {
      setError(toApiError(failure))
      setLink(undefined)
      setBusy(false)
    }
  }

  return (
    <main className="sign-in">
      <form className="sign-in-card" onSubmit={enter}>
        <svg width="36" height="36" viewBox="0 0 32 32" aria-hidden="true" className="sign-in-mark">
          <rect width="32" height="32" rx="8" />
          <path d="M9 22V10h6.500a4 4 0 0 1 0 8H13m6-8h4m-4 6h4m-7 6h7" />
        </svg>
        <h1>{operator ? 'Operator console' : 'Partner console'}</h1>
        {ended && !error && (
          <Notice kind="warn" title="Your session has ended">
            <p>The key was revoked, the session expired, or you signed out elsewhere.</p>
          </Notice>
        )}
        {error && <ErrorNotice error={error} title="You could not be signed in" />}
        {link === undefined ? (
          <>
            <p className="about">
              {operator
                ? 'Sign in with your operator token.'
                : 'Sign in with an API key of yours. The console can do what the key can do, and nothing else.'}
            </p>
            <SecretField
              label={operator ? 'Operator token' : 'API key'}
              placeholder={operator ? 'opt_…' : 'psk_…'}
              required
              autoFocus
              value={secret}
              onText={setSecret}
            />
          </>
        ) : (
          <p className="about">You were sent a sign-in link. It works once.</p>
        )}
        <Button look="primary" type="submit" busy={busy}>
          Sign in
        </Button>
        <p className="faint small-text">
          {operator
            ? 'In a sandbox the first token is in data/operator-token.'
            : 'No key at hand? Ask your operator for a sign-in link. In a sandbox the demo key is in data/demo-key.'}
        </p>
      </form>
    </main>
  )
}
