// Tables. Every row's first link is what the row is about: the arrow keys go from one to the next, and on narrow screens a row
// becomes a small card whose cells carry their column's name.
import type { KeyboardEvent, ReactNode } from 'react'
import { Button } from './button.tsx'

export interface Column<T> {
  readonly name: string
  readonly cell: (row: T) => ReactNode
  readonly end?: boolean // numbers
  readonly wide?: boolean // gives way first: cut with an ellipsis
  readonly hide?: 'narrow' | 'medium' // left out where there is no room
}

export function Table<T>({
  label,
  columns,
  rows,
  keyOf,
  isNew,
}: {
  label: string
  columns: readonly Column<T>[]
  rows: readonly T[]
  keyOf: (row: T) => string
  isNew?: (row: T) => boolean
}) {
  return (
    <div className="table-frame">
      <table className="table" onKeyDown={moveByArrows}>
        <caption className="hidden">{label}</caption>
        <thead>
          <tr>
            {columns.map(({ name, end, hide }) => (
              <th key={name} scope="col" className={`${end ? 'end' : ''} ${hide ? `hide-${hide}` : ''}`}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)} className={isNew?.(row) ? 'new' : ''}>
              {columns.map(({ name, cell, end, wide, hide }) => (
                <td
                  key={name}
                  data-name={name}
                  className={`${end ? 'end' : ''} ${wide ? 'wide' : ''} ${hide ? `hide-${hide}` : ''}`}
                >
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function moveByArrows(event: KeyboardEvent<HTMLTableElement>): void {
  if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return
  const links = [...event.currentTarget.querySelectorAll<HTMLElement>('tbody tr')].flatMap((row) => {
    const link = row.querySelector<HTMLElement>('a, button')
    return link ? [{ row, link }] : []
  })
  const here = links.findIndex(({ row }) => row.contains(document.activeElement))
  const next = links[here + (event.key === 'ArrowDown' ? 1 : -1)]
  if (here < 0 || !next) return
  event.preventDefault()
  next.link.focus()
}

export function More({ shown, busy, onMore }: { shown: boolean; busy: boolean; onMore: () => void }) {
  if (!shown) return null
  return (
    <div className="more">
      <Button small busy={busy} onClick={onMore}>
        Show more
      </Button>
    </div>
  )
}
