// What changed between two texts, line by line: the longest common subsequence, after equal beginnings and ends were set aside.

export interface DiffLine {
  readonly kind: 'same' | 'added' | 'removed'
  readonly text: string
  readonly before?: number // line numbers, from 1
  readonly after?: number
}

const mostCells = 4_000_000 // beyond that everything between is shown as replaced

export function diffLines(left: string, right: string): DiffLine[] {
  const a = left.split('\n')
  const b = right.split('\n')
  let start = 0
  while (start < a.length && start < b.length && a[start] === b[start]) start++
  let end = 0
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++
  const out: DiffLine[] = []
  for (let i = 0; i < start; i++) out.push({ kind: 'same', text: a[i]!, before: i + 1, after: i + 1 })
  middle(a.slice(start, a.length - end), b.slice(start, b.length - end), start, out)
  for (let i = end; i > 0; i--) {
    out.push({ kind: 'same', text: a[a.length - i]!, before: a.length - i + 1, after: b.length - i + 1 })
  }
  return out
}

function middle(a: readonly string[], b: readonly string[], offset: number, out: DiffLine[]): void {
  const removed = (i: number) => out.push({ kind: 'removed', text: a[i]!, before: offset + i + 1 })
  const added = (j: number) => out.push({ kind: 'added', text: b[j]!, after: offset + j + 1 })
  if (a.length * b.length > mostCells) {
    for (const i of a.keys()) removed(i)
    for (const j of b.keys()) added(j)
    return
  }
  const width = b.length + 1
  const common = new Uint32Array((a.length + 1) * width)
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      common[i * width + j] =
        a[i] === b[j]
          ? common[(i + 1) * width + j + 1]! + 1
          : Math.max(common[(i + 1) * width + j]!, common[i * width + j + 1]!)
    }
  }
  let [i, j] = [0, 0]
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      out.push({ kind: 'same', text: a[i]!, before: offset + i + 1, after: offset + j + 1 })
      i++
      j++
    } else if (j >= b.length || (i < a.length && common[(i + 1) * width + j]! >= common[i * width + j + 1]!))
      removed(i++)
    else added(j++)
  }
}

// Only what changed, with a few lines around; `null` stands for what was left out.
export function withContext(lines: readonly DiffLine[], around = 3): (DiffLine | null)[] {
  const keep = lines.map((_, i) =>
    lines.slice(Math.max(0, i - around), i + around + 1).some(({ kind }) => kind !== 'same'),
  )
  return lines.flatMap((line, i) => (keep[i] ? [line] : i === 0 || keep[i - 1] ? [null] : []))
}
