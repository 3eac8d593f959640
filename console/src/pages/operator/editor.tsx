// A text editor for JSON: line numbers, the line of a mistake marked, Tab indents after Escape lets it leave.
import { type KeyboardEvent, useId, useRef } from 'react'

export function Editor({
  text,
  onText,
  label,
  wrongLines,
  readOnly,
}: {
  text: string
  onText: (text: string) => void
  label: string
  wrongLines: ReadonlySet<number>
  readOnly?: boolean
}) {
  const id = useId()
  const area = useRef<HTMLTextAreaElement>(null)
  const gutter = useRef<HTMLDivElement>(null)
  const count = text.split('\n').length
  const onKey = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.key !== 'Enter' || readOnly) return
    // A new line begins as far in as the one before.
    const { selectionStart: start, value } = event.currentTarget
    const indent = /^ */.exec(value.slice(value.lastIndexOf('\n', start - 1) + 1, start))?.[0] ?? ''
    const deeper = /[{[]\s*$/.test(value.slice(0, start)) ? '  ' : ''
    if (indent + deeper === '') return
    event.preventDefault()
    document.execCommand('insertText', false, `\n${indent}${deeper}`) // keeps undo working
  }
  return (
    <div className="editor">
      <label htmlFor={id} className="hidden">
        {label}
      </label>
      <div className="gutter" ref={gutter} aria-hidden="true">
        {Array.from({ length: count }, (_, i) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a line's number is its name
          <span key={i} className={wrongLines.has(i + 1) ? 'wrong' : ''}>
            {i + 1}
          </span>
        ))}
      </div>
      <textarea
        id={id}
        ref={area}
        value={text}
        readOnly={readOnly}
        spellCheck={false}
        autoComplete="off"
        autoCapitalize="off"
        wrap="off"
        onChange={(event) => onText(event.target.value)}
        onKeyDown={onKey}
        onScroll={(event) => {
          gutter.current!.scrollTop = event.currentTarget.scrollTop
        }}
      />
    </div>
  )
}
