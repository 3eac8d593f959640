// Reads what PostgreSQL's encode(…, 'escape') wrote: bytes as text, in which a backslash and whatever is not ASCII are escaped. For
// JSON that is half the size of the driver's hex, and mostly needs no decoding at all.
const backslash = 0x5c

export function fromEscaped(text: string): Buffer {
  const bytes = Buffer.from(text, 'latin1')
  let from = bytes.indexOf(backslash)
  if (from < 0) return bytes
  let to = from
  while (from < bytes.length) {
    if (bytes[from] !== backslash) bytes[to++] = bytes[from++]!
    else if (bytes[from + 1] === backslash) {
      bytes[to++] = backslash
      from += 2
    } else {
      bytes[to++] = Number.parseInt(bytes.toString('latin1', from + 1, from + 4), 8)
      from += 4
    }
  }
  return bytes.subarray(0, to)
}
