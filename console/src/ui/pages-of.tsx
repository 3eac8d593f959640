// Lists that come in pages: the first is kept fresh, further ones are added when asked for.
import { useEffect, useState } from 'react'
import { useRead } from '../api/cache.ts'
import { type ApiError, get } from '../api/http.ts'
import type { Page } from '../api/types.ts'
import { useToast } from './toast.tsx'

export interface List<T> {
  readonly rows: T[] | undefined
  readonly error: ApiError | undefined
  readonly loading: boolean
  readonly again: () => void
  readonly more: { shown: boolean; busy: boolean; onMore: () => void }
}

export function usePages<Plural extends string, T>(
  path: string | null,
  plural: Plural,
  keyOf: (row: T) => string,
): List<T> {
  const first = useRead<Page<Plural, T>>(path)
  const [rest, setRest] = useState<{ rows: T[]; cursor: string | null } | undefined>()
  const [busy, setBusy] = useState(false)
  const toast = useToast()
  // biome-ignore lint/correctness/useExhaustiveDependencies: another list begins anew
  useEffect(() => setRest(undefined), [path])

  const firstRows = first.data?.[plural] as T[] | undefined
  const cursor = rest ? rest.cursor : (first.data?.next_cursor ?? null)
  const onMore = async () => {
    if (path === null || cursor === null) return
    setBusy(true)
    try {
      const next = await get<Page<Plural, T>>(
        `${path}${path.includes('?') ? '&' : '?'}cursor=${encodeURIComponent(cursor)}`,
      )
      setRest({ rows: [...(rest?.rows ?? []), ...(next[plural] as T[])], cursor: next.next_cursor })
    } catch (error) {
      toast.fail(error)
    } finally {
      setBusy(false)
    }
  }
  // While rows are added at the top, the first page pushes rows into what was loaded further down.
  const seen = new Set(firstRows?.map(keyOf))
  const rows = firstRows && [...firstRows, ...(rest?.rows ?? []).filter((row) => !seen.has(keyOf(row)))]
  return {
    rows,
    error: first.error,
    loading: first.loading,
    again: first.again,
    more: { shown: cursor !== null, busy, onMore },
  }
}
