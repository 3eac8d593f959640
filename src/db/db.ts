// The one database interface. Two implementations: PostgreSQL (postgres.ts) and PGlite (embedded.ts), running the same SQL.
// Rows come back with camelCase names, timestamps as text with microseconds (see times.ts), bigints as numbers.

export type Value =
  | string
  | number
  | boolean
  | null
  | Uint8Array
  | readonly string[]
  | readonly number[]
  | readonly boolean[]
  | readonly Uint8Array[]
  | readonly (string | null)[]
  | readonly (number | null)[]
  | readonly (Uint8Array | null)[]
export type Row = Record<string, unknown>

export interface Queryable {
  query<R extends object = Row>(text: string, values?: readonly Value[]): Promise<{ rows: R[]; count: number }>
}

// A function that asks for a Tx can only be called inside a transaction.
export interface Tx extends Queryable {
  readonly inTransaction: true
  script(sql: string): Promise<void> // several statements, no parameters: for migrations
  readonly isWatched?: (partnerId: string) => boolean // there only while somebody follows a partner live (see live/)
}

export interface Db extends Queryable {
  readonly kind: 'postgres' | 'embedded'
  // For short questions that must not queue behind other work or wait long: on PostgreSQL a connection of its own.
  readonly urgent: Queryable
  // Commits before it resolves; `work` may run more than once, but only one run is committed. Inside `work` use only `tx`: the embedded database has one connection.
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>
  // Calls back at each notification on the channel until stopped; reconnects by itself. PostgreSQL only: the embedded database
  // has no other process to hear from.
  listen?(channel: string, onMessage: () => void): () => Promise<void>
  close(): Promise<void>
}

// The database cannot be reached, or the connection broke. When `commitUnknown`, a COMMIT was under way and may have happened.
export class DatabaseUnavailable extends Error {
  readonly commitUnknown: boolean

  constructor(cause: unknown, commitUnknown = false) {
    const { message = '', code = '' } = cause as NodeJS.ErrnoException // a failed connection to several addresses has no message
    super(`the database is not available: ${message || code || String(cause)}`, { cause })
    this.commitUnknown = commitUnknown
  }
}

export function camelCase(column: string): string {
  return column.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
}

// Builds rows out of arrays of values, so that a name is converted once for each result and not once for each row.
export function toRows<R extends object>(columns: readonly string[], tuples: readonly (readonly unknown[])[]): R[] {
  const names = columns.map(camelCase)
  return tuples.map((tuple) => {
    const row: Row = {}
    for (let i = 0; i < names.length; i++) row[names[i]!] = tuple[i]
    return row as R
  })
}
