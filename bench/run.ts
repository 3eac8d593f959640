// `npm run bench`: starts everything it needs, measures each contender in turn, several times, in one run, and prints, writes and
// draws what came out. `--quick` takes about two minutes, `--only drain-100,get-partner` picks workloads, `--write-docs` renews
// docs/performance.md.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'

const help = `Usage: npm run bench -- [--quick] [--only NAME,…] [--contenders NAME,…] [--rounds N] [--write-docs]

  --quick       small counts, three rounds: about two minutes
  --only        workloads to run, by name or by the beginning of one
  --contenders  who takes part, by name or by the beginning of one
  --rounds      how often each contender is measured (default: 5, with --quick 3)
  --write-docs  write docs/performance.md and its chart, as well as bench/results`

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    contenders: { type: 'string' },
    rounds: { type: 'string' },
    'write-docs': { type: 'boolean', default: false },
    help: { type: 'boolean', short: 'h', default: false },
  },
})
if (values.help) {
  console.log(help)
  process.exit()
}
const folder = new URL('.', import.meta.url).pathname
installRivals()

const { median } = await import('./lib/stats.ts')
const { setStage } = await import('./lib/stage.ts')
const { workloads } = await import('./workloads/all.ts')
const { machine, report, progress } = await import('./lib/report.ts')

const rounds = Number(values.rounds ?? (values.quick ? 3 : 5))
const wanted = values.only?.split(',')
const takesPart = (name: string) => values.contenders?.split(',').some((each) => name.startsWith(each)) ?? true
const chosen = workloads(values.quick, rounds)
  .filter(({ name }) => !wanted || wanted.some((each) => name === each || name.startsWith(`${each}-`)))
  .map((each) => ({ ...each, contenders: each.contenders.filter(takesPart) }))
if (chosen.length === 0) throw new Error(`no workload is called ${values.only}`)

const stage = await setStage()
const bar = progress(chosen.reduce((sum, each) => sum + each.rounds * each.contenders.length, 0))
const results: Record<string, Record<string, Record<string, number[]>>> = {}
try {
  for (const workload of chosen) {
    const figures: Record<string, Record<string, number[]>> = {}
    results[workload.name] = figures
    for (let round = 0; round < workload.rounds; round++) {
      for (const contender of workload.contenders) {
        bar.step(`${workload.name}: ${contender}`)
        for (const [name, value] of Object.entries(await workload.measure(stage, contender))) {
          figures[contender] ??= {}
          figures[contender][name] ??= []
          figures[contender][name].push(value)
        }
      }
    }
  }
} finally {
  bar.end()
  await stage.close()
}

const medians = Object.fromEntries(
  Object.entries(results).map(([workload, contenders]) => [
    workload,
    Object.fromEntries(
      Object.entries(contenders).map(([contender, figures]) => [
        contender,
        Object.fromEntries(Object.entries(figures).map(([name, all]) => [name, median(all)])),
      ]),
    ),
  ]),
)
const about = { at: new Date().toISOString(), machine: machine(), quick: values.quick, rounds }
const { text, markdown, chart } = report(about, chosen, medians, results)
console.log(text)
mkdirSync(`${folder}results`, { recursive: true })
writeFileSync(`${folder}results/latest.json`, `${JSON.stringify({ about, medians, results }, null, 2)}\n`)
writeFileSync(`${folder}results/latest.svg`, chart)
if (values['write-docs']) {
  writeFileSync(`${folder}../docs/performance.svg`, chart)
  writeFileSync(`${folder}../docs/performance.md`, markdown)
}
process.exit()

// Rivals have a manifest of their own; Redis comes from Debian.
function installRivals(): void {
  if (!existsSync(`${folder}node_modules/pg-boss`)) {
    execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder, stdio: 'inherit' })
  }
  try {
    execFileSync('redis-server', ['--version'], { stdio: 'ignore' })
  } catch {
    execFileSync('apt-get', ['install', '-y', '--no-install-recommends', 'redis-server'], { stdio: 'inherit' })
  }
}
