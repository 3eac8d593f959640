// Where everything stands in a JSON text: the line of each path such as `available_assets[2].id`, or of the first mistake.

export interface Places {
  readonly lines: ReadonlyMap<string, number> // path → line, from 1
  readonly mistake?: { readonly line: number; readonly message: string }
}

export function findPlaces(text: string): Places {
  const lines = new Map<string, number>()
  let at = 0
  let line = 1

  const fail = (message: string): never => {
    throw { line, message }
  }
  const skip = () => {
    while (at < text.length && /\s/.test(text[at]!)) {
      if (text[at] === '\n') line++
      at++
    }
  }
  const expect = (char: string) => {
    skip()
    if (text[at] !== char)
      fail(at >= text.length ? `it ends where "${char}" is expected` : `"${char}" is expected instead of "${text[at]}"`)
    at++
  }
  const readText = (): string => {
    const found = /"(?:[^"\\\n]|\\.)*"/y
    found.lastIndex = at
    const whole = found.exec(text)?.[0] ?? fail('a text is not closed, or a name lacks its quotation marks')
    at += whole.length
    try {
      return JSON.parse(whole) as string
    } catch {
      return fail(`${whole} is not a valid text`)
    }
  }
  const readValue = (path: string): void => {
    skip()
    lines.set(path, line)
    const char = text[at]
    if (char === '{') readMembers(path)
    else if (char === '[') readItems(path)
    else if (char === '"') readText()
    else readWord(char)
  }
  const readWord = (char: string | undefined): void => {
    const found = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y
    found.lastIndex = at
    const whole = found.exec(text)?.[0]
    if (whole === undefined) fail(char === undefined ? 'it ends too early' : `"${char}" does not belong here`)
    at += whole!.length
  }
  const readMembers = (path: string): void => {
    at++
    skip()
    const seen = new Set<string>()
    while (text[at] !== '}') {
      if (seen.size > 0) expect(',')
      skip()
      if (text[at] !== '"') fail('a name in quotation marks is expected')
      const name = readText()
      if (seen.has(name)) fail(`"${name}" is there twice`)
      seen.add(name)
      expect(':')
      readValue(path === '' ? name : `${path}.${name}`)
      skip()
      if (at >= text.length) fail('"}" is missing')
    }
    at++
  }
  const readItems = (path: string): void => {
    at++
    skip()
    for (let i = 0; text[at] !== ']'; i++) {
      if (i > 0) expect(',')
      readValue(`${path}[${i}]`)
      skip()
      if (at >= text.length) fail('"]" is missing')
    }
    at++
  }

  try {
    readValue('')
    skip()
    if (at < text.length) fail('there is something after the end')
    return { lines }
  } catch (mistake) {
    return { lines, mistake: mistake as { line: number; message: string } }
  }
}

// The line that a refusal such as `available_assets[2].id repeats BTC` is about; of its parent when the member itself is missing.
export function lineOf(places: Places, message: string): number | undefined {
  let path = /^[\w[\].]+/.exec(message)?.[0]?.replace(/\.$/, '')
  while (path) {
    const line = places.lines.get(path)
    if (line !== undefined) return line
    path = path.replace(/(\.?[^.[\]]+|\[\d+\])$/, '')
  }
  return undefined
}
