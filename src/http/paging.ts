// Lists: `?limit=` and an opaque `?cursor=`, newest first. A page is asked for by the last id seen, so it stays stable while
// rows are being added.
import Type, { type TSchema } from 'typebox'
import { fail } from '../errors.ts'
import type { Reply } from './route.ts'

export const pageQuery = {
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 50, description: 'How many to return.' })),
  cursor: Type.Optional(Type.String({ maxLength: 500, description: 'The `next_cursor` of the page before.' })),
}

export const noFilters = Type.Object(pageQuery, { additionalProperties: false })

// The reply of a list, as {"<plural>": […], "next_cursor": …}.
export function pageOf<S extends TSchema>(plural: string, item: S) {
  const nextCursor = Type.Union([Type.String(), Type.Null()], {
    description: 'Give this as `cursor` to get the next page; null on the last one.',
  })
  return { description: 'Newest first.', schema: Type.Object({ [plural]: Type.Array(item), next_cursor: nextCursor }) }
}

export interface Page {
  readonly limit: number
  readonly before: string | null // rows that come after this one in the list
}

// `form` is what a position of this list looks like, when it is not an id: a cursor of another list is refused.
export function readPage(query: { limit?: number; cursor?: string }, form = /^[\x21-\x7e]{1,200}$/): Page {
  return { limit: query.limit ?? 50, before: query.cursor === undefined ? null : decodeCursor(query.cursor, form) }
}

// `rows` were asked for with limit + 1, which tells whether another page exists. `position` is what the next page starts after.
export function pageReply<R>(
  plural: string,
  rows: readonly R[],
  { limit }: Page,
  view: (row: R) => unknown,
  position: (row: R) => string,
): Reply {
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  const nextCursor = rows.length > limit && last !== undefined ? encodeCursor(position(last)) : null
  return { status: 200, body: { [plural]: shown.map(view), next_cursor: nextCursor } }
}

function encodeCursor(position: string): string {
  return Buffer.from(`1:${position}`).toString('base64url')
}

function decodeCursor(cursor: string, form: RegExp): string {
  const text = Buffer.from(cursor, 'base64url').toString()
  if (!text.startsWith('1:') || !form.test(text.slice(2)))
    throw fail('invalid_parameters', 'cursor is not one that this service gave out.')
  return text.slice(2)
}
