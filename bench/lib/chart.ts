// A chart that needs no reading: how each contender compares with us, workload by workload.
import type { Medians } from '../targets.ts'

const charted = [
  { workload: 'drain-100', figure: 'rate', title: 'Drain over 100 endpoints, events/s' },
  { workload: 'drain-slow', figure: 'rate', title: 'Drain, endpoints take 50 ms, events/s' },
  { workload: 'publish-single', figure: 'rate', title: 'Publishing single events, events/s' },
  { workload: 'publish-batch', figure: 'rate', title: 'Publishing in batches, events/s' },
  { workload: 'latency-100', figure: 'p99', title: 'Latency at 100/s, p99 in ms (shorter is better)' },
]
const [width, left, barHeight, gap] = [760, 170, 18, 6]

export function drawChart(medians: Medians): string {
  let y = 10
  const parts: string[] = []
  for (const { workload, figure, title } of charted) {
    const bars = Object.entries(medians[workload] ?? {}).flatMap(([name, figures]) => {
      const value = figures[figure]
      return value === undefined || name.startsWith('ceiling (b)') ? [] : [{ name, value }]
    })
    if (bars.length === 0) continue
    parts.push(`<text class="title" x="0" y="${y + 14}">${escaped(title)}</text>`)
    y += 24
    const most = Math.max(...bars.map((bar) => bar.value))
    for (const { name, value } of bars) {
      const length = Math.max(2, (value / most) * (width - left - 90))
      const kind = name.startsWith('partner-service') ? 'ours' : name.startsWith('ceiling') ? 'ceiling' : 'rival'
      parts.push(
        `<text x="${left - 8}" y="${y + 13}" text-anchor="end">${escaped(name)}</text>`,
        `<rect class="${kind}" x="${left}" y="${y}" width="${length.toFixed(1)}" height="${barHeight}" rx="3"/>`,
        `<text x="${left + length + 6}" y="${y + 13}">${Math.round(value).toLocaleString('en')}</text>`,
      )
      y += barHeight + gap
    }
    y += 14
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${y}" role="img" aria-label="How each contender compares">
<style>
text { font: 13px system-ui, sans-serif; fill: #24292f } .title { font-weight: 600 }
.ours { fill: #1a7f5a } .rival { fill: #8c959f } .ceiling { fill: #d0d7de }
@media (prefers-color-scheme: dark) { text { fill: #e6edf3 } .ours { fill: #3fb68b } .rival { fill: #6e7681 } .ceiling { fill: #484f58 } }
</style>
${parts.join('\n')}
</svg>
`
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}
