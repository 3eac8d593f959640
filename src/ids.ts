// Ids: a prefix that names the resource, 48 bits of time so that ids sort by age, 80 random bits so that none can be guessed.
import { randomBytes } from 'node:crypto'

const alphabet = '0123456789abcdefghjkmnpqrstvwxyz' // Crockford's base 32, lower case: no i, l, o or u to misread

export type IdPrefix =
  | 'ptr'
  | 'key'
  | 'opt'
  | 'aud'
  | 'req'
  | 'sub'
  | 'evt'
  | 'pub'
  | 'wrk'
  | 'sig'
  | 'bulk'
  | 'oin'
  | 'ord'
  | 'pay'
  | 'prc'

export function newId(prefix: IdPrefix, atMs = Date.now()): string {
  return `${prefix}_${encodeTime(atMs)}${randomText(16)}`
}

// The smallest id of that moment: ids of later ones are greater.
export function firstIdAt(prefix: IdPrefix, atMs: number): string {
  return `${prefix}_${encodeTime(atMs)}${'0'.repeat(16)}`
}

// Random bytes are drawn many at a time: asking for a few costs as much as asking for thousands. None is used twice.
const drawnAtOnce = 4_096
let drawn = Buffer.alloc(0)
let used = 0

// Each character carries five random bits.
export function randomText(length: number): string {
  if (used + length > drawn.length) {
    drawn = randomBytes(Math.max(drawnAtOnce, length))
    used = 0
  }
  let text = ''
  for (const end = used + length; used < end; used++) text += alphabet[drawn[used]! & 31]
  return text
}

function encodeTime(ms: number): string {
  let text = ''
  for (let rest = ms, i = 0; i < 10; i++, rest = Math.floor(rest / 32)) text = alphabet[rest % 32] + text
  return text
}
