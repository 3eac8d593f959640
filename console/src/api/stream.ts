// What happens right now, pushed by the service over one connection. A page in the background gives its connection back, because a
// browser has only a few for each address; when it is looked at again it reads everything anew.
import { apiPrefix, askSession } from './http.ts'
import type { StreamAttempt, StreamOrder, WebhookEvent } from './webhook-types.ts'

export interface StreamEvents {
  webhook_event: WebhookEvent
  attempt: StreamAttempt
  order: StreamOrder
  reset: null
}
export type StreamKind = keyof StreamEvents
export type StreamState = 'connecting' | 'live' | 'away'

export interface Stream {
  on<K extends StreamKind>(kind: K, listen: (data: StreamEvents[K]) => void): () => void
  state(): StreamState
  onState(listen: () => void): () => void
  close(): void
}

const hiddenForMs = 10_000
const kinds: readonly StreamKind[] = ['webhook_event', 'attempt', 'order', 'reset']

export function openStream(): Stream {
  const listeners = new Map<StreamKind, Set<(data: never) => void>>(kinds.map((kind) => [kind, new Set()]))
  const stateListeners = new Set<() => void>()
  let state: StreamState = 'connecting'
  let source: EventSource | undefined
  let retry: ReturnType<typeof setTimeout> | undefined
  let hide: ReturnType<typeof setTimeout> | undefined
  let waitMs = 2_000

  const become = (next: StreamState) => {
    if (state === next) return
    state = next
    for (const listen of stateListeners) listen()
  }
  const tell = (kind: StreamKind, data: unknown) => {
    for (const listen of listeners.get(kind)!) listen(data as never)
  }
  const drop = () => {
    source?.close()
    source = undefined
    clearTimeout(retry)
  }
  const connect = () => {
    if (source) return
    source = new EventSource(`${apiPrefix}/stream`)
    source.onopen = () => {
      waitMs = 2_000
      become('live') // a `reset` follows: what was read before may be out of date
    }
    source.onerror = () => {
      become('away')
      if (source?.readyState !== EventSource.CLOSED) return // it tries again by itself
      drop()
      void askSession() // it ends when the key or the session does
      retry = setTimeout(connect, waitMs)
      waitMs = Math.min(waitMs * 2, 60_000)
    }
    for (const kind of kinds) {
      source.addEventListener(kind, (message) => {
        const text = (message as MessageEvent<string>).data
        tell(kind, kind === 'reset' ? null : JSON.parse(text))
      })
    }
  }
  const onVisibility = () => {
    clearTimeout(hide)
    if (!document.hidden) return connect()
    hide = setTimeout(() => {
      drop()
      become('connecting')
    }, hiddenForMs)
  }
  document.addEventListener('visibilitychange', onVisibility)
  connect()

  return {
    on(kind, listen) {
      listeners.get(kind)!.add(listen as never)
      return () => listeners.get(kind)!.delete(listen as never)
    },
    state: () => state,
    onState(listen) {
      stateListeners.add(listen)
      return () => stateListeners.delete(listen)
    },
    close() {
      document.removeEventListener('visibilitychange', onVisibility)
      clearTimeout(hide)
      drop()
    },
  }
}
