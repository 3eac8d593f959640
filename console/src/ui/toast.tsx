// Short messages at the edge of the screen, read out by screen readers. Failures stay until they are closed and carry the request id.
import { createContext, type ReactNode, useCallback, useContext, useMemo, useRef, useState } from 'react'
import { ApiError } from '../api/http.ts'
import { IconButton } from './button.tsx'
import { Icon } from './icon.tsx'

interface Toast {
  readonly id: number
  readonly text: string
  readonly kind: 'good' | 'bad'
  readonly requestId?: string | null
}
interface Toaster {
  say(text: string, kind?: 'good' | 'bad'): void
  fail(error: unknown): void
}

const ToastContext = createContext<Toaster | null>(null)
const shownForMs = 5_000

export function Toasts({ children }: { children: ReactNode }) {
  const [toasts, setToasts] = useState<readonly Toast[]>([])
  const count = useRef(0)
  const close = useCallback((id: number) => setToasts((all) => all.filter((each) => each.id !== id)), [])
  const toaster = useMemo<Toaster>(() => {
    const add = (toast: Omit<Toast, 'id'>) => {
      const id = ++count.current
      setToasts((all) => [...all.slice(-3), { ...toast, id }])
      if (toast.kind === 'good') setTimeout(() => close(id), shownForMs)
    }
    return {
      say: (text, kind = 'good') => add({ text, kind }),
      fail: (error) =>
        add({
          text: error instanceof Error ? error.message : String(error),
          kind: 'bad',
          requestId: error instanceof ApiError ? error.requestId : null,
        }),
    }
  }, [close])
  return (
    <ToastContext value={toaster}>
      {children}
      <section className="toasts" aria-label="Messages" aria-live="polite">
        {toasts.map(({ id, text, kind, requestId }) => (
          <div key={id} className={`toast ${kind}`}>
            <Icon name={kind === 'good' ? 'check' : 'warn'} />
            <div className="toast-text">
              {text}
              {requestId && <span className="request-id">{requestId}</span>}
            </div>
            <IconButton icon="cross" label="Close message" onClick={() => close(id)} />
          </div>
        ))}
      </section>
    </ToastContext>
  )
}

export function useToast(): Toaster {
  const toaster = useContext(ToastContext)
  if (!toaster) throw new Error('there is nobody to show messages')
  return toaster
}

// Runs an action of a button: busy while it runs, a message when it fails.
export function useAction(): [boolean, (work: () => Promise<unknown>) => Promise<boolean>] {
  const [busy, setBusy] = useState(false)
  const running = useRef(false)
  const toast = useToast()
  const run = async (work: () => Promise<unknown>): Promise<boolean> => {
    if (running.current) return false
    running.current = true
    setBusy(true)
    try {
      await work()
      return true
    } catch (error) {
      toast.fail(error)
      return false
    } finally {
      running.current = false
      setBusy(false)
    }
  }
  return [busy, run]
}
