// What came out of a run, for the terminal, for docs/performance.md, and as a chart.

import { execFileSync } from 'node:child_process'
import { cpus, totalmem } from 'node:os'
import { prose } from '../prose.ts'
import { type Medians, targets } from '../targets.ts'
import type { Workload } from '../workloads/workload.ts'
import { drawChart } from './chart.ts'

export interface About {
  readonly at: string
  readonly machine: string
  readonly quick: boolean
  readonly rounds: number
}

export function machine(): string {
  const [cpu] = cpus()
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: import.meta.dirname })
    .toString()
    .trim()
  return `${cpus().length} × ${cpu?.model.trim()}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.versions.node}, commit ${commit}`
}

// A line on standard error that says what is running and how far it is.
export function progress(total: number) {
  let done = 0
  const startedAt = performance.now()
  const live = process.stderr.isTTY
  return {
    step(what: string) {
      const filled = Math.round((done / total) * 20)
      const bar = `${'█'.repeat(filled)}${'░'.repeat(20 - filled)}`
      const seconds = Math.round((performance.now() - startedAt) / 1_000)
      const line = `${bar} ${String(done).padStart(3)}/${total} ${String(seconds).padStart(4)} s  ${what}`
      process.stderr.write(live ? `\r\x1b[2K${line}` : `${line}\n`)
      done++
    },
    end() {
      if (live) process.stderr.write('\r\x1b[2K')
    },
  }
}

export function report(
  about: About,
  workloads: readonly Workload[],
  medians: Medians,
  results: Readonly<Record<string, Record<string, Record<string, number[]>>>>,
): { text: string; markdown: string; chart: string } {
  const tables = workloads.map(({ name, title }) => ({ title, rows: tableOf(medians[name] ?? {}) }))
  const met = targetRows(medians)
  const spread = spreadOf(results)
  const text = [
    ...tables.flatMap(({ title, rows }) => ['', title, aligned(rows)]),
    '',
    'Targets (ratios of medians from this run)',
    aligned(met),
    '',
    `${about.machine}; ${about.rounds} rounds${about.quick ? ', quick' : ''}; ${spread}`,
  ].join('\n')
  const markdown = markdownOf(about, tables, met, spread)
  return { text, markdown, chart: drawChart(medians) }
}

function tableOf(contenders: Medians[string]): string[][] {
  const figures = [...new Set(Object.values(contenders).flatMap((each) => Object.keys(each)))]
  return [
    ['', ...figures.map(heading)],
    ...Object.entries(contenders).map(([name, each]) => [name, ...figures.map((figure) => write(each[figure]))]),
  ]
}

const headings: Record<string, string> = {
  rate: 'per second',
  perCpuSecond: 'per CPU-second',
  databaseCpuSeconds: 'database CPU s',
  receiverCpuSeconds: 'receiver CPU s',
  peakMegabytes: 'peak MB',
  p50: 'p50 ms',
  p99: 'p99 ms',
  p999: 'p99.9 ms',
  cpuSeconds: 'CPU s',
  senderMicros: 'sender µs',
  databaseMicros: 'database µs',
}

function heading(figure: string): string {
  return headings[figure] ?? figure
}

function write(value: number | undefined): string {
  if (value === undefined || Number.isNaN(value)) return ''
  if (value >= 100) return Math.round(value).toLocaleString('en')
  return value >= 10 ? value.toFixed(1) : value.toFixed(2).replace(/\.00$/, '')
}

function targetRows(medians: Medians): string[][] {
  const rows = targets.flatMap(({ text, wanted, atMost = false, actual }) => {
    const value = actual(medians)
    if (value === undefined) return []
    const reached = atMost ? value <= wanted : value >= wanted
    return [[text, `${atMost ? '≤' : '≥'} ${wanted}`, value.toFixed(2), reached ? 'reached' : 'MISSED']]
  })
  return [['', 'target', 'measured', ''], ...rows]
}

// How far rounds of one contender lie apart: what a difference has to exceed to mean something.
function spreadOf(results: Readonly<Record<string, Record<string, Record<string, number[]>>>>): string {
  const spreads = Object.values(results)
    .flatMap((contenders) => Object.values(contenders))
    .flatMap(({ rate = [] }) => (rate.length > 1 ? [Math.max(...rate) / Math.min(...rate)] : []))
    .toSorted((a, b) => a - b)
  if (spreads.length === 0) return 'one round each'
  return `rates of one contender lie apart by a factor of ${spreads[Math.floor(spreads.length / 2)]!.toFixed(2)} in the median`
}

function aligned(rows: readonly string[][]): string {
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  return rows
    .map((row) => row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!))).join('  '))
    .join('\n')
}

function markdownTable(rows: readonly string[][]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  const [head, ...body] = rows
  return [line(head!), line(head!.map((_, i) => (i === 0 ? '---' : '---:'))), ...body.map(line)].join('\n')
}

function markdownOf(
  about: About,
  tables: readonly { title: string; rows: string[][] }[],
  met: string[][],
  spread: string,
): string {
  return `# Performance

<!-- Made by \`npm run bench -- --write-docs\`. Edit bench/prose.ts instead. -->

${prose.method}

Machine of this run: ${about.machine}; ${about.rounds} rounds; ${about.at.slice(0, 10)}. In this run the ${spread}.

![Deliveries of each contender, as ratios](performance.svg)

## Targets

Ratios of medians, all from this one run.

${markdownTable(met)}

${prose.targets}

## Figures

${tables.map(({ title, rows }) => `### ${title}\n\n${markdownTable(rows)}`).join('\n\n')}

${prose.rest}
`
}
