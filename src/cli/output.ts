// What commands print: aligned text for people, JSON for programs.

type Json = Record<string, unknown>

export function card(item: Json, json: boolean): number {
  if (json) return printJson(item)
  const width = Math.max(4, ...Object.keys(item).map((name) => name.length))
  const lines = Object.entries(item).map(([name, value]) => `${show(name).padEnd(width)}  ${show(value)}`)
  return print(lines.length > 0 ? lines.join('\n') : 'Done.')
}

export function table(items: readonly Json[], columns: readonly string[], json: boolean): number {
  if (json) return printJson(items)
  if (items.length === 0) return print('None.')
  const rows = [
    columns.map((name) => name.toUpperCase()),
    ...items.map((item) => columns.map((name) => show(item[name]))),
  ]
  const widths = columns.map((_, i) => Math.max(...rows.map((row) => row[i]!.length)))
  return print(
    rows
      .map((row) =>
        row
          .map((cell, i) => cell.padEnd(widths[i]!))
          .join('  ')
          .trimEnd(),
      )
      .join('\n'),
  )
}

// Names and descriptions may come from anyone: no control characters reach the terminal.
function show(value: unknown): string {
  if (value === null || value === undefined) return '-'
  const text = Array.isArray(value) && value.every((each) => typeof each === 'string') ? value.join(',') : value
  return (typeof text === 'string' ? text : JSON.stringify(text)).replace(/\p{Cc}/gu, '?')
}

function printJson(value: unknown): number {
  return print(JSON.stringify(value, null, 2))
}

function print(text: string): number {
  process.stdout.write(`${text}\n`)
  return 0
}
