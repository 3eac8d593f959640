// Where values lie inside a JSON text: the bytes of an object's members and of an array's items, so that what a caller wrote can
// be passed on as it was written, numbers that no double holds included. Only for text that JSON.parse has accepted already.
// It is looked through as latin1, where a byte is a character: every part of JSON's own syntax is ASCII.

// Of a name that occurs twice the last counts, as with JSON.parse.
export function memberTexts(json: Buffer): Map<string, Buffer> {
  const members = new Map<string, Buffer>()
  const text = json.toString('latin1')
  let at = skipSpace(text, text.indexOf('{') + 1)
  while (text[at] === '"') {
    const nameEnd = endOfString(text, at)
    const name = JSON.parse(json.toString('utf8', at, nameEnd)) as string
    const start = skipSpace(text, skipSpace(text, nameEnd) + 1)
    const end = endOfValue(text, start)
    members.set(name, json.subarray(start, end))
    at = skipSpace(text, skipSpace(text, end) + 1)
  }
  return members
}

export function itemTexts(json: Buffer): Buffer[] {
  const items: Buffer[] = []
  const text = json.toString('latin1')
  let at = skipSpace(text, text.indexOf('[') + 1)
  while (at < text.length && text[at] !== ']') {
    const end = endOfValue(text, at)
    items.push(json.subarray(at, end))
    at = skipSpace(text, skipSpace(text, end) + 1)
  }
  return items
}

// The same text without the space between its parts: two that differ in nothing else are the same content.
export function withoutSpace(json: Buffer): Buffer {
  const text = json.toString('latin1')
  if (!/[ \n\r\t]/.test(text)) return json
  let kept = ''
  for (let at = 0; at < text.length; ) {
    const end = text[at] === '"' ? endOfString(text, at) : at + 1
    if (!isSpace(text.charCodeAt(at))) kept += text.slice(at, end)
    at = end
  }
  return Buffer.from(kept, 'latin1')
}

function endOfValue(text: string, start: number): number {
  let depth = 0
  for (let at = start; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === 0x22) {
      at = endOfString(text, at) - 1
      if (depth === 0) return at + 1
    } else if (code === 0x7b || code === 0x5b) depth++
    else if (code === 0x7d || code === 0x5d) {
      if (depth === 0) return at // the end of what a number or a word stands in
      if (--depth === 0) return at + 1
    } else if (depth === 0 && (code === 0x2c || isSpace(code))) return at
  }
  return text.length
}

function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let backslashes = 0
    while (text.charCodeAt(at - 1 - backslashes) === 0x5c) backslashes++
    if (backslashes % 2 === 0) return at + 1
  }
  return text.length
}

function skipSpace(text: string, from: number): number {
  let at = from
  while (isSpace(text.charCodeAt(at))) at++
  return at
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09
}
