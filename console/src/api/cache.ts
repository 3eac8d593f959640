// What was read last, by address, shared by everything that shows it. A page shows what is known at once and what is new when it
// comes; `refresh` reads again what is on screen and forgets the rest.
import { useCallback, useEffect, useRef, useSyncExternalStore } from 'react'
import { ApiError, get } from './http.ts'

export interface Read<T> {
  readonly data: T | undefined
  readonly error: ApiError | undefined
  readonly loading: boolean
}

interface Entry {
  state: Read<unknown>
  load: () => Promise<unknown>
  asked: number // only the answer to the latest question counts
  shownBy: Set<() => void>
}

const entries = new Map<string, Entry>()
const idle: Read<never> = { data: undefined, error: undefined, loading: false }
const starting: Read<never> = { data: undefined, error: undefined, loading: true }

function set(entry: Entry, state: Read<unknown>): void {
  entry.state = state
  for (const tell of entry.shownBy) tell()
}

async function read(entry: Entry): Promise<void> {
  const asked = ++entry.asked
  if (!entry.state.loading) set(entry, { ...entry.state, loading: true })
  try {
    const data = await entry.load()
    if (asked === entry.asked) set(entry, { data, error: undefined, loading: false })
  } catch (error) {
    if (asked !== entry.asked) return
    const known = error instanceof ApiError ? error : new ApiError(0, 'error', String(error), null)
    set(entry, { data: known.status === 404 ? undefined : entry.state.data, error: known, loading: false })
  }
}

// Reads `key` (an address, unless `load` says otherwise) while the component is on screen; nothing when it is null.
export function useRead<T>(key: string | null, load?: () => Promise<T>): Read<T> & { again: () => void } {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key says what is loaded; `load` is new on every render
  const subscribe = useCallback(
    (tell: () => void) => {
      if (key === null) return () => {}
      const entry = entries.get(key) ?? { state: starting, load: () => get(key), asked: 0, shownBy: new Set() }
      if (load) entry.load = load
      entries.set(key, entry)
      entry.shownBy.add(tell)
      if (entry.shownBy.size === 1) void read(entry)
      return () => entry.shownBy.delete(tell)
    },
    [key],
  )
  const state = useSyncExternalStore(subscribe, () =>
    key === null ? idle : ((entries.get(key)?.state ?? starting) as Read<unknown>),
  )
  const again = useCallback(() => {
    const entry = key === null ? undefined : entries.get(key)
    if (entry) void read(entry)
  }, [key])
  return { ...(state as Read<T>), again }
}

export function refresh(...prefixes: string[]): void {
  for (const [key, entry] of entries) {
    if (prefixes.length > 0 && !prefixes.some((prefix) => key.startsWith(prefix))) continue
    if (entry.shownBy.size > 0) void read(entry)
    else entries.delete(key)
  }
}

export function change<T>(key: string, update: (data: T) => T): void {
  const entry = entries.get(key)
  if (entry?.state.data !== undefined) set(entry, { ...entry.state, data: update(entry.state.data as T) })
}

export function forgetEverything(): void {
  entries.clear()
}

// Reads again now and then while the page can be seen: for what nobody pushes to us.
export function useEvery(seconds: number, work: () => void): void {
  const latest = useRef(work)
  useEffect(() => {
    latest.current = work
  })
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) latest.current()
    }, seconds * 1_000)
    return () => clearInterval(timer)
  }, [seconds])
}
