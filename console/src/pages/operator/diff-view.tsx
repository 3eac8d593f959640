// A difference between two configurations, side by side in one column, as code reviews show it.
import { useMemo } from 'react'
import { diffLines, withContext } from './diff.ts'

export function DiffView({ before, after, label }: { before: string; after: string; label: string }) {
  const { shown, added, removed } = useMemo(() => {
    const lines = diffLines(before, after)
    return {
      shown: withContext(lines),
      added: lines.filter(({ kind }) => kind === 'added').length,
      removed: lines.filter(({ kind }) => kind === 'removed').length,
    }
  }, [before, after])
  if (added + removed === 0) return <p className="faint">They are the same.</p>
  return (
    <div className="diff">
      <p className="diff-sum">
        <span className="good-text">+{added}</span> <span className="bad-text">−{removed}</span> lines
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it */}
      <section className="diff-lines" tabIndex={0} aria-label={label}>
        <table>
          <caption className="hidden">{label}</caption>
          <tbody>
            {shown.map((line, i) =>
              line === null ? (
                // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other name
                <tr key={i} className="gap">
                  <td />
                  <td />
                  <td>⋯</td>
                </tr>
              ) : (
                // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other name
                <tr key={i} className={line.kind}>
                  <td className="number">{line.before}</td>
                  <td className="number">{line.after}</td>
                  <td>
                    <span className="sign">{line.kind === 'added' ? '+' : line.kind === 'removed' ? '−' : ' '}</span>
                    {line.text}
                  </td>
                </tr>
              ),
            )}
          </tbody>
        </table>
      </section>
    </div>
  )
}
