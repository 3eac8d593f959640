// Copying: a value beside its button, an id that can be clicked, and any call as a curl command that works in a terminal.
import { useEffect, useState } from 'react'
import { apiPrefix, listener } from '../api/http.ts'
import { Button } from './button.tsx'
import { Icon } from './icon.tsx'
import { useToast } from './toast.tsx'

async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text)
  // The clipboard exists only on https and localhost; elsewhere a selection can still be copied.
  const area = document.createElement('textarea')
  area.value = text
  document.body.append(area)
  area.select()
  document.execCommand('copy')
  area.remove()
}

function useCopy(text: string): [boolean, () => void] {
  const [copied, setCopied] = useState(false)
  const toast = useToast()
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), 1_500)
    return () => clearTimeout(timer)
  }, [copied])
  const copy = () => {
    copyText(text).then(
      () => setCopied(true),
      () => toast.say('The browser did not allow copying.', 'bad'),
    )
  }
  return [copied, copy]
}

export function CopyButton({ text, label }: { text: string; label: string }) {
  const [copied, copy] = useCopy(text)
  return (
    <button
      type="button"
      className={`copy ${copied ? 'done' : ''}`}
      aria-label={copied ? 'Copied' : label}
      title={label}
      onClick={copy}
    >
      <Icon name={copied ? 'check' : 'copy'} size={14} />
    </button>
  )
}

// An id with its copy button.
export function Id({ id, what = 'id' }: { id: string; what?: string }) {
  return (
    <span className="id">
      <code>{id}</code>
      <CopyButton text={id} label={`Copy ${what}`} />
    </span>
  )
}

export interface CurlCall {
  readonly method?: string
  readonly path: string
  readonly body?: unknown
}

export function curl({ method = 'GET', path, body }: CurlCall): string {
  const variable = listener === 'operator' ? '$OPERATOR_TOKEN' : '$PARTNER_KEY'
  const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`
  const parts = [`curl ${quote(window.location.origin + apiPrefix + path)}`, `-H "Authorization: Bearer ${variable}"`]
  if (method !== 'GET' && !(method === 'POST' && body !== undefined)) parts[0] += ` -X ${method}`
  if (body !== undefined) parts.push("-H 'Content-Type: application/json'", `-d ${quote(JSON.stringify(body))}`)
  return parts.join(' \\\n  ')
}

export function CurlButton({ call, label = 'Copy as curl' }: { call: CurlCall; label?: string }) {
  const [copied, copy] = useCopy(curl(call))
  return (
    <Button look="quiet" small icon={copied ? 'check' : 'terminal'} onClick={copy} title={curl(call)}>
      {copied ? 'Copied' : label}
    </Button>
  )
}
