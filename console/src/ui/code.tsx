// Texts from outside, shown as they are: only ever as text, never as markup. JSON gets colours by wrapping its pieces.
import { type ReactNode, useMemo, useState } from 'react'
import { CopyButton } from './copy.tsx'
import { Segments } from './fields.tsx'

const pieces = /("(?:[^"\\]|\\.)*")(\s*:)?|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/g
const mostColoured = 60_000 // beyond that it stays one colour, and fast

export function coloured(text: string): ReactNode[] {
  if (text.length > mostColoured) return [text]
  const out: ReactNode[] = []
  let done = 0
  for (const found of text.matchAll(pieces)) {
    const [whole, string, colon] = found
    if (found.index > done) out.push(text.slice(done, found.index))
    const kind = string === undefined ? 'j-value' : colon === undefined ? 'j-text' : 'j-name'
    out.push(
      <span key={found.index} className={kind}>
        {string ?? whole}
      </span>,
    )
    if (colon !== undefined) out.push(colon)
    done = found.index + whole.length
  }
  out.push(text.slice(done))
  return out
}

export function Code({ text, label, json }: { text: string; label: string; json?: boolean }) {
  const shown = useMemo(() => (json ? coloured(text) : text), [text, json])
  return (
    <div className="code">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it */}
      <section tabIndex={0} aria-label={label}>
        <pre>
          <code>{shown}</code>
        </pre>
      </section>
      <CopyButton text={text} label={`Copy ${label.toLowerCase()}`} />
    </div>
  )
}

// JSON that can be read indented, or exactly as it was sent.
export function JsonText({ raw, label }: { raw: string; label: string }) {
  const [view, setView] = useState<'pretty' | 'raw'>('pretty')
  const pretty = useMemo(() => indent(raw), [raw])
  return (
    <div className="json-text">
      <Segments
        label={`How to show ${label.toLowerCase()}`}
        value={view}
        onChange={setView}
        options={[
          { value: 'pretty', label: 'Readable' },
          { value: 'raw', label: 'As sent' },
        ]}
      />
      <Code text={view === 'pretty' ? pretty : raw} label={label} json />
    </div>
  )
}

// Indents JSON without parsing its numbers: 1.10 stays 1.10, and long integers keep every digit.
export function indent(raw: string): string {
  let depth = 0
  let out = ''
  let inText = false
  for (let i = 0; i < raw.length; i++) {
    const char = raw[i]!
    if (inText) {
      out += char
      if (char === '\\') out += raw[++i] ?? ''
      else if (char === '"') inText = false
    } else if (char === '"') {
      inText = true
      out += char
    } else if (char === '{' || char === '[') {
      const next = nextMark(raw, i + 1)
      if (raw[next] === '}' || raw[next] === ']') {
        out += char + raw[next]
        i = next
      } else out += `${char}\n${'  '.repeat(++depth)}`
    } else if (char === '}' || char === ']') {
      depth = Math.max(0, depth - 1)
      out += `\n${'  '.repeat(depth)}${char}`
    } else if (char === ',') out += `,\n${'  '.repeat(depth)}`
    else if (char === ':') out += ': '
    else if (!/\s/.test(char)) out += char
  }
  return out
}

function nextMark(text: string, from: number): number {
  let at = from
  while (/\s/.test(text[at] ?? 'x')) at++
  return at
}
