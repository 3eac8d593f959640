// Reads JSON bodies: strictly UTF-8, of bounded depth, and keeping the raw bytes, which signatures and idempotency hash.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { fail } from '../errors.ts'

const mostDepth = 32
const utf8 = new TextDecoder('utf-8', { fatal: true })
const empty = Buffer.alloc(0)
const rawBodies = new WeakMap<FastifyRequest, Buffer>()

export function rawBody(request: FastifyRequest): Buffer {
  return rawBodies.get(request) ?? empty
}

export function acceptJsonBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    const bytes = body as Buffer
    rawBodies.set(request, bytes)
    try {
      done(null, parseJson(bytes))
    } catch (error) {
      done(error as Error)
    }
  })
}

export function parseJson(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined // clients send the content type with POSTs that have no body
  if (mayBeDeep(bytes) && nesting(bytes) > mostDepth)
    throw fail('body_parse_error', `The request body is nested deeper than ${mostDepth} levels.`)
  let text: string
  try {
    text = utf8.decode(bytes)
  } catch {
    throw fail('body_parse_error', 'The request body is not valid UTF-8.')
  }
  try {
    return mayBeUnstorable(text) ? JSON.parse(text, refuseUnstorable) : JSON.parse(text)
  } catch (error) {
    if (error instanceof SyntaxError) throw fail('body_parse_error')
    throw error
  }
}

// Looking at every value costs several times the parsing, and hardly any body can need it: what is refused has to be written with
// an escape, because raw it is neither JSON nor UTF-8, or by its name.
function mayBeUnstorable(text: string): boolean {
  return text.includes('\\u') || text.includes('__proto__')
}

// `{"__proto__": …}` would otherwise become an own property that a later copy turns into a prototype. NUL and half a surrogate
// pair are JSON, but no database text: stored inside a document they would break every later reader.
function refuseUnstorable(key: string, value: unknown): unknown {
  if (key === '__proto__') throw fail('invalid_parameters', '__proto__ is not a known field.')
  if (!isStorable(key) || (typeof value === 'string' && !isStorable(value))) {
    const name = key.replace(/[^\x20-\x7e]/g, '?').slice(0, 80)
    throw fail('invalid_parameters', `${name || 'The body'} holds a NUL or an unpaired surrogate character.`)
  }
  return value
}

export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed()
}

// What opens no more often than that is no deeper.
function mayBeDeep(bytes: Buffer): boolean {
  let left = mostDepth
  for (const opening of [0x7b, 0x5b]) {
    for (let at = bytes.indexOf(opening); at >= 0; at = bytes.indexOf(opening, at + 1)) if (--left < 0) return true
  }
  return false
}

function nesting(bytes: Buffer): number {
  let depth = 0
  let deepest = 0
  let inString = false
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]
    if (inString) {
      if (byte === 0x5c) i++
      else if (byte === 0x22) inString = false
    } else if (byte === 0x22) inString = true
    else if (byte === 0x7b || byte === 0x5b) deepest = Math.max(deepest, ++depth)
    else if (byte === 0x7d || byte === 0x5d) depth--
  }
  return deepest
}
