// Where we are: the path after the listener's own beginning, and the query. Links work as links (new tab, copy address); a page
// change moves the focus to the new page's heading, so that a screen reader says where it is.
import { type AnchorHTMLAttributes, type MouseEvent, useCallback, useSyncExternalStore } from 'react'
import { listener } from '../api/http.ts'

export const basePath = listener === 'operator' ? '' : '/console'

const listeners = new Set<() => void>()
const subscribe = (tell: () => void) => {
  listeners.add(tell)
  window.addEventListener('popstate', tell)
  return () => {
    listeners.delete(tell)
    window.removeEventListener('popstate', tell)
  }
}

function currentPath(): string {
  const { pathname } = window.location
  const path = basePath !== '' && pathname.startsWith(basePath) ? pathname.slice(basePath.length) : pathname
  return path === '' ? '/' : path.replace(/(.)\/$/, '$1')
}

export function usePath(): string {
  return useSyncExternalStore(subscribe, currentPath)
}

export function navigate(to: string, { replace = false } = {}): void {
  const address = basePath + to || '/'
  if (replace) window.history.replaceState(null, '', address)
  else window.history.pushState(null, '', address)
  for (const tell of listeners) tell()
}

// The query as an object, and a way to change it in place (undefined or '' takes a member out).
export function useQuery(): [Record<string, string>, (change: Record<string, string | undefined>) => void] {
  const search = useSyncExternalStore(subscribe, () => window.location.search)
  const update = useCallback((change: Record<string, string | undefined>) => {
    const next = new URLSearchParams(window.location.search)
    for (const [name, value] of Object.entries(change)) {
      if (value === undefined || value === '') next.delete(name)
      else next.set(name, value)
    }
    const text = next.toString()
    navigate(currentPath() + (text === '' ? '' : `?${text}`), { replace: true })
  }, [])
  return [Object.fromEntries(new URLSearchParams(search)), update]
}

// `/events/:id` against `/events/evt_1` is { id: 'evt_1' }.
export function match(pattern: string, path: string): Record<string, string> | undefined {
  const wanted = pattern.split('/')
  const given = path.split('/')
  if (wanted.length !== given.length) return undefined
  const parameters: Record<string, string> = {}
  for (const [i, part] of wanted.entries()) {
    if (part.startsWith(':')) parameters[part.slice(1)] = decode(given[i]!)
    else if (part !== given[i]) return undefined
  }
  return parameters
}

// A text as one part of an address. The service takes an address with a dot for a file.
export function segment(text: string): string {
  return encodeURIComponent(text).replaceAll('.', '%2E')
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

export function Link({ to, onClick, ...rest }: { to: string } & AnchorHTMLAttributes<HTMLAnchorElement>) {
  const follow = (event: MouseEvent<HTMLAnchorElement>) => {
    onClick?.(event)
    if (event.defaultPrevented || event.button !== 0) return
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    navigate(to)
  }
  return <a href={basePath + to || '/'} onClick={follow} {...rest} />
}
