// Light, dark, or as the system says; remembered in this browser.
import { useSyncExternalStore } from 'react'

export type Theme = 'system' | 'light' | 'dark'
const name = 'console-theme'
const listeners = new Set<() => void>()

function stored(): Theme {
  try {
    const value = window.localStorage.getItem(name)
    return value === 'light' || value === 'dark' ? value : 'system'
  } catch {
    return 'system' // storage may be forbidden
  }
}

let theme = stored()

export function applyTheme(next: Theme = theme): void {
  theme = next
  if (next === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = next
  try {
    if (next === 'system') window.localStorage.removeItem(name)
    else window.localStorage.setItem(name, next)
  } catch {} // then it lasts until the page is left
  for (const tell of listeners) tell()
}

export function useTheme(): [Theme, (theme: Theme) => void] {
  const now = useSyncExternalStore(
    (tell) => {
      listeners.add(tell)
      return () => listeners.delete(tell)
    },
    () => theme,
  )
  return [now, applyTheme]
}
