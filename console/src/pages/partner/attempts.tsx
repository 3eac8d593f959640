// The attempts of an event as a time line: what the endpoint answered, how long it took, and the answer itself.
import type { Attempt } from '../../api/webhook-types.ts'
import { Code } from '../../ui/code.tsx'
import { Icon } from '../../ui/icon.tsx'
import { Empty } from '../../ui/notice.tsx'
import { span, Time } from '../../ui/time.tsx'
import { attemptWords, isDelivered, sentence } from './explain.ts'

export function AttemptList({ attempts }: { attempts: readonly Attempt[] }) {
  if (attempts.length === 0) {
    return (
      <Empty icon="clock" title="No attempt yet">
        It appears here the moment it is made.
      </Empty>
    )
  }
  const slowest = Math.max(1, ...attempts.map((each) => each.duration_ms))
  const newest = attempts.at(-1)!.number
  return (
    <ol className="timeline">
      {attempts.toReversed().map((attempt) => (
        <AttemptItem key={attempt.number} attempt={attempt} slowest={slowest} open={attempt.number === newest} />
      ))}
    </ol>
  )
}

function AttemptItem({ attempt, slowest, open }: { attempt: Attempt; slowest: number; open: boolean }) {
  const delivered = isDelivered(attempt)
  return (
    <li className={delivered ? 'good' : 'bad'}>
      <span className="timeline-mark">
        <Icon name={delivered ? 'check' : 'cross'} size={12} />
      </span>
      <details open={open}>
        <summary>
          <span className="timeline-title">
            {attempt.status ?? attempt.error_kind}
            <span className="sub">Attempt {attempt.number}</span>
          </span>
          <span className="timeline-bar" aria-hidden="true">
            <i style={{ width: `${Math.max(2, (attempt.duration_ms / slowest) * 100)}%` }} />
          </span>
          <span className="timeline-duration">{span(attempt.duration_ms)}</span>
          <Time at={attempt.at} />
        </summary>
        <div className="timeline-body">
          <p>{sentence(attemptWords(attempt).what)}</p>
          {attempt.error_detail && <Code text={attempt.error_detail} label="Error" />}
          <p className="soft small-text">
            POST <code>{attempt.url}</code>
          </p>
          <Answer body={attempt.response_body} answered={attempt.status !== null} />
        </div>
      </details>
    </li>
  )
}

export function Answer({ body, answered }: { body: string | null; answered: boolean }) {
  if (!answered) return null
  if (body === null || body === '') return <p className="faint small-text">The answer had no body.</p>
  return <Code text={body} label="Answer of the endpoint" json={/^\s*[[{]/.test(body)} />
}
