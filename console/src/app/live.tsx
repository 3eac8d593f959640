// The stream of what happens right now, for every page below.
import { createContext, type ReactNode, useContext, useEffect, useRef, useState, useSyncExternalStore } from 'react'
import { refresh } from '../api/cache.ts'
import { openStream, type Stream, type StreamEvents, type StreamKind, type StreamState } from '../api/stream.ts'

const LiveContext = createContext<Stream | null>(null)

export function LiveProvider({ enabled, children }: { enabled: boolean; children: ReactNode }) {
  const [stream, setStream] = useState<Stream | null>(null)
  useEffect(() => {
    if (!enabled) return
    const opened = openStream()
    opened.on('reset', () => refresh())
    setStream(opened)
    return () => {
      opened.close()
      setStream(null)
    }
  }, [enabled])
  return <LiveContext value={stream}>{children}</LiveContext>
}

export function useLive<K extends StreamKind>(kind: K, listen: (data: StreamEvents[K]) => void): void {
  const stream = useContext(LiveContext)
  const latest = useRef(listen)
  useEffect(() => {
    latest.current = listen
  })
  useEffect(() => stream?.on(kind, (data) => latest.current(data)), [stream, kind])
}

export function useLiveState(): StreamState | undefined {
  const stream = useContext(LiveContext)
  return useSyncExternalStore(
    (tell) => stream?.onState(tell) ?? (() => {}),
    () => stream?.state(),
  )
}

// Many changes in a moment cause one reading: the first at once, then at most one in `everyMs`.
export function useCalmly(work: () => void, everyMs: number): () => void {
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  const last = useRef(0)
  useEffect(() => () => clearTimeout(timer.current), [])
  return () => {
    if (timer.current !== undefined) return
    const wait = Math.max(0, last.current + everyMs - Date.now())
    timer.current = setTimeout(() => {
      timer.current = undefined
      last.current = Date.now()
      work()
    }, wait)
  }
}
