// What a receiver gets beside the body, and a check of a signature it received: in this browser, by the published keys. Signatures
// are made anew for every attempt and not kept, so one has to be pasted.
import { useEffect, useState } from 'react'
import { type Check, type Decoded, decode, digestOf, verify } from '../../api/signature.ts'
import type { EventDetails } from '../../api/webhook-types.ts'
import { Code } from '../../ui/code.tsx'
import { AreaField } from '../../ui/fields.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Card, Facts } from '../../ui/page.tsx'

interface Result {
  readonly decoded?: Decoded
  readonly checks?: readonly Check[]
  readonly error?: string
}
interface Expected {
  readonly eventId: string
  readonly subscriptionId: string
  readonly payload: string
}

export const ableToCheck = globalThis.crypto?.subtle !== undefined // only on https and localhost

function useVerified(token: string, { eventId, subscriptionId, payload }: Expected): Result {
  const [result, setResult] = useState<Result>({})
  useEffect(() => {
    if (token.trim() === '') return setResult({})
    let current = true
    const check = async () => {
      let decoded: Decoded | undefined
      try {
        decoded = decode(token)
        const checks = await verify(token, { eventId, subscriptionId, payload })
        if (current) setResult({ decoded, checks })
      } catch (error) {
        if (current) setResult({ ...(decoded ? { decoded } : {}), error: (error as Error).message })
      }
    }
    void check()
    return () => {
      current = false
    }
  }, [token, eventId, subscriptionId, payload])
  return result
}

export function SignatureCheck({ event, payload }: { event: EventDetails; payload: string }) {
  const [token, setToken] = useState('')
  const [digest, setDigest] = useState('')
  const result = useVerified(token, { eventId: event.id, subscriptionId: event.subscription_id, payload })
  useEffect(() => {
    if (ableToCheck) void digestOf(payload).then(setDigest)
  }, [payload])

  return (
    <Card title="Headers and signature" about="What came with the body, and whether it is ours">
      <Facts
        facts={[
          ['Content-Type', <code key="t">application/json</code>],
          ['X-Event-Id', <code key="i">{event.id}</code>],
          ['X-Event-Type', <code key="y">{event.action}</code>],
          ['X-Attempt-Number', <code key="n">1 … {Math.max(1, event.delivery_tries)}</code>],
          [
            'X-JWT-SIGNATURE',
            <span key="s">a JWT, new for every attempt; its digest is the SHA-256 of the body:</span>,
          ],
          ableToCheck && ['digest', <code key="d">{digest}</code>],
        ]}
      />
      {ableToCheck ? (
        <AreaField
          label="Check a signature you received"
          hint="Paste the value of X-JWT-SIGNATURE. It is decoded and verified here in your browser, and goes nowhere."
          mono
          rows={3}
          placeholder="eyJhbGciOiJFUzI1NiIs…"
          value={token}
          onText={setToken}
          error={result.error}
        />
      ) : (
        <p className="about">Signatures can be checked here when the console is opened over https.</p>
      )}
      <Verdict result={result} />
    </Card>
  )
}

// The signature of something that was sent from here, decoded and verified by itself.
export function SentSignature({ token, ...expected }: Expected & { token: string }) {
  const result = useVerified(token, expected)
  return (
    <>
      {result.error && <p className="bad-text">{result.error}</p>}
      <Verdict result={result} />
    </>
  )
}

function Verdict({ result: { checks, decoded } }: { result: Result }) {
  return (
    <>
      {checks && <Checks checks={checks} />}
      {decoded && (
        <Code
          label="Decoded signature"
          json
          text={JSON.stringify({ header: decoded.header, claims: decoded.claims }, null, 2)}
        />
      )}
    </>
  )
}

function Checks({ checks }: { checks: readonly Check[] }) {
  const good = checks.every(({ ok }) => ok)
  return (
    <div className={`checks ${good ? 'good' : 'bad'}`} role="status">
      <p className="checks-title">
        <Icon name={good ? 'check' : 'warn'} />
        {good ? 'Genuine: we signed exactly this event for this subscription' : 'Not a genuine signature of this event'}
      </p>
      <ul>
        {checks.map(({ what, ok, detail }) => (
          <li key={what} className={ok ? 'good' : 'bad'}>
            <Icon name={ok ? 'check' : 'cross'} size={12} />
            <strong>{what}</strong>
            <span>{detail}</span>
          </li>
        ))}
      </ul>
    </div>
  )
}
