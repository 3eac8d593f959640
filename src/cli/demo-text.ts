// Text for a terminal of a given width: sentences wrapped, JSON on as few lines as fit, and of a long reply only what matters.

export function wrap(text: string, width: number): string[] {
  const lines: string[] = []
  for (const word of text.split(/\s+/)) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}

const omitted = '…'

// The members at these paths (`withdrawal.amount`; inside of lists, of each item), and a mark where others were left out.
export function only(value: unknown, paths: readonly string[]): unknown {
  if (Array.isArray(value)) return value.map((item) => only(item, paths))
  if (typeof value !== 'object' || value === null || paths.length === 0) return value
  const groups = Map.groupBy(paths, (path) => path.split('.')[0]!)
  const members = Object.entries(value)
    .filter(([name]) => groups.has(name))
    .map(([name, member]) => {
      const below = groups.get(name)!.flatMap((path) => (path.includes('.') ? [path.slice(name.length + 1)] : []))
      return [name, only(member, below)]
    })
  const whole = members.length === Object.keys(value).length
  return Object.fromEntries(whole ? members : [...members, [omitted, omitted]])
}

// JSON for people: as many members on a line as fit, the rest below; a long text goes on in the next line.
export function layOut(value: unknown, width: number, before = ''): string[] {
  const short = before + oneLine(value)
  if (short.length <= width) return [short]
  if (typeof value === 'string') return wrap(short, width - 2).map((line, i) => (i === 0 ? line : `  ${line}`))
  if (typeof value !== 'object' || value === null) return [short]
  const [open, close] = Array.isArray(value) ? ['[ ', ' ]'] : ['{ ', ' }']
  const members = Array.isArray(value) ? value.map((item) => ['', item] as const) : Object.entries(value)
  const lines = [before + open]
  for (const [i, [name, member]] of members.entries()) {
    const end = i < members.length - 1 ? ', ' : close
    const label = name === '' || name === omitted ? '' : `"${name}": `
    const inner = name === omitted ? [omitted] : layOut(member, width - 2 - end.length, label)
    const last = lines.at(-1)!
    const fits = inner.length === 1 && last.length + inner[0]!.length + end.trimEnd().length <= width
    if (fits || last === open) lines[lines.length - 1] = last + inner.shift()
    else lines[lines.length - 1] = last.trimEnd()
    for (const line of inner) lines.push(`  ${line}`)
    lines[lines.length - 1] += end
  }
  return lines
}

function oneLine(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(oneLine).join(', ')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.entries(value).map(([name, member]) =>
    name === omitted ? omitted : `"${name}": ${oneLine(member)}`,
  )
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`
}
