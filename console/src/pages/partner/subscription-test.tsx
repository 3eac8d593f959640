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

export function TestCard({ path }: { path: string }) {
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
        {result ? <Result result={result} /> : <p className="faint">No test sent from here yet.</p>}
      </div>
    </Card>
  )
}

function Result({ result }: { result: TestResult }) {
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
        <summary>What was sent</summary>
        <Code text={JSON.stringify(result.event, null, 2)} label="Test event" json />
      </details>
    </>
  )
}
