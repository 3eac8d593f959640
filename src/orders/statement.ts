// A statement as CSV, oldest first, read and sent a thousand lines at a time: its length costs no memory.
import type { Queryable } from '../db/db.ts'
import type { Timestamp } from '../times.ts'
import { listEntries } from './settlement.ts'
import { entryView } from './views.ts'

const linesAtOnce = 1_000
const columns = [
  'entry',
  'created_at',
  'kind',
  'order_id',
  'available_change',
  'held_change',
  'available',
  'held',
] as const

export const csvExample = `${columns.join(',')}\r\n1,2026-01-05T12:00:00Z,top_up,ord_01…,1000.00,0.00,1000.00,0.00\r\n`

export async function* statementCsv(
  db: Queryable,
  partnerId: string,
  currency: string,
  assets: Parameters<typeof entryView>[2],
  span: { readonly from: Timestamp | null; readonly to: Timestamp | null },
): AsyncGenerator<string> {
  yield `${columns.join(',')}\r\n`
  for (let after = 0; ; ) {
    const rows = await listEntries(db, partnerId, currency, { ...span, after, limit: linesAtOnce })
    const lines = rows.map((row) => {
      const view = entryView(row, currency, assets)
      return `${columns.map((column) => view[column]).join(',')}\r\n`
    })
    if (lines.length > 0) yield lines.join('')
    if (rows.length < linesAtOnce) return
    after = rows.at(-1)!.entry
  }
}
