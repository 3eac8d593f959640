// Arrays as parameters for PostgreSQL, written the quick way: bytes in the binary form, which needs no hex; everything else as a
// literal, which needs escaping only where a quote or a backslash occurs. The driver's own way looks at every character.
import type { Value } from './db.ts'

const byteaType = 17

export function toParameter(value: Value): unknown {
  if (!Array.isArray(value)) return value
  const sample = value.find((each) => each !== null)
  if (sample instanceof Uint8Array) return binaryArray(value as (Uint8Array | null)[])
  if (typeof sample === 'string') return textArray(value as (string | null)[])
  return `{${value.map((each) => each ?? 'NULL').join(',')}}`
}

function textArray(values: readonly (string | null)[]): string {
  if (!values.includes(null)) {
    const joined = values.join('","')
    // Between the elements there are two quotes each; any other must be escaped.
    if (!joined.includes('\\') && countQuotes(joined) === 2 * (values.length - 1)) return `{"${joined}"}`
  }
  const escaped = values.map((each) => (each === null ? 'NULL' : `"${each.replace(/["\\]/g, '\\$&')}"`))
  return `{${escaped.join(',')}}`
}

function countQuotes(text: string): number {
  let count = 0
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at + 1)) count++
  return count
}

// One dimension, its element type, then each element behind its length; null has the length -1.
function binaryArray(values: readonly (Uint8Array | null)[]): Buffer {
  const size = values.reduce((sum, each) => sum + 4 + (each?.length ?? 0), 20)
  const buffer = Buffer.allocUnsafe(size)
  const header = [1, values.includes(null) ? 1 : 0, byteaType, values.length, 1]
  let at = 0
  for (const each of header) at = buffer.writeInt32BE(each, at)
  for (const each of values) {
    at = buffer.writeInt32BE(each === null ? -1 : each.length, at)
    if (each !== null) {
      buffer.set(each, at)
      at += each.length
    }
  }
  return buffer
}
