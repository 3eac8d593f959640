// A test: one signed event sent at once, and what the endpoint answered.
import { useState } from 'react'
import { send } from '../../api/http.ts'
import type { TestResult } from '../../api/webhook-types.ts'
import { Code } from '../../ui/code.tsx'
import { CurlButton } from '../../ui/copy.tsx'
import { GuardedButton } from '../../ui/guarded.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Card } from '../../ui/page.tsx'
import { span } from '../../ui/time.tsx'
import { useAction } from '../../ui/toast.tsx'
import { Answer } from './attempts.tsx'
import { attemptWords, sentence } from './explain.ts'
import { ableToCheck, SentSignature } from './signature-check.tsx'

export function TestCard({ id, path }: { id: string; path: string }) {
  const [result, setResult] = useState<TestResult>()
  const [busy, run] = useAction()
  const test = () => run(async () => setResult(await send<TestResult>('POST', `${path}/test`)))
  return (
    <Card
      title="Test"
      about="Sends one signed event now and shows what your endpoint answers. It is not stored."
      actions={
        <>
          <CurlButton call={{ method: 'POST', path: `${path}/test` }} />
          <GuardedButton needs="webhooks:write" icon="bolt" busy={busy} onClick={test}>
            Send a test event
          </GuardedButton>
        </>
      }
    >
      <div aria-live="polite" className="stack">
        {result ? <Result id={id} result={result} /> : <p className="faint">No test sent from here yet.</p>}
      </div>
    </Card>
  )
}

function Result({ id, result }: { id: string; result: TestResult }) {
  const { what, advice } = attemptWords(result)
  return (
    <>
      <Notice
        kind={result.delivered ? 'good' : 'bad'}
        title={`${result.delivered ? 'Delivered' : 'Not delivered'} in ${span(result.duration_ms)}: ${result.status ?? result.error_kind}`}
      >
        <p>
          {sentence(what)} {advice}
        </p>
      </Notice>
      {result.error_detail && <Code text={result.error_detail} label="Error" />}
      <Answer body={result.response_body} answered={result.status !== null} />
      <details className="quiet-details">
        <summary>What was sent, and its signature</summary>
        <div className="stack">
          <Code
            text={Object.entries(result.headers)
              .map(([name, value]) => `${name}: ${value}`)
              .join('\n')}
            label="Headers"
          />
          <Code text={JSON.stringify(result.event)} label="Test event" json />
          {ableToCheck && (
            <SentSignature
              token={result.headers['x-jwt-signature'] ?? ''}
              eventId={result.event.id}
              subscriptionId={id}
              payload={JSON.stringify(result.event)}
            />
          )}
        </div>
      </details>
    </>
  )
}
