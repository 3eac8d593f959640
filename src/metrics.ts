// Metrics in the Prometheus text format: counters, histograms, and gauges that are read when someone asks.

type Labels = Readonly<Record<string, string>>
const noLabels: Labels = {}

export interface Counter {
  add(labels?: Labels, amount?: number): void
}
export interface Histogram {
  observe(value: number, labels?: Labels): void
}
export interface Metrics {
  counter(name: string, help: string): Counter
  histogram(name: string, help: string, buckets: readonly number[]): Histogram
  gauge(name: string, help: string, read: () => number | readonly { labels: Labels; value: number }[]): void
  render(): string
}

export const secondsBuckets = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

// A counter or histogram asked for twice under one name is the same one.
export function createMetrics(): Metrics {
  const counters = new Map<string, Counter>()
  const histograms = new Map<string, Histogram>()
  const renderers: (() => string[])[] = []
  const add = (name: string, help: string, type: string, lines: () => string[]) =>
    void renderers.push(() => [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines()])

  return {
    counter(name, help) {
      const existing = counters.get(name)
      if (existing) return existing
      const series = createSeries(() => ({ value: 0 }))
      add(name, help, 'counter', () => series.all().map(({ labels, value }) => `${name}${labelText(labels)} ${value}`))
      const counter: Counter = {
        add(labels = noLabels, amount = 1) {
          series.of(labels).value += amount
        },
      }
      counters.set(name, counter)
      return counter
    },
    histogram(name, help, buckets) {
      const existing = histograms.get(name)
      if (existing) return existing
      const series = createSeries(() => ({ counts: buckets.map(() => 0), sum: 0, count: 0 }))
      add(name, help, 'histogram', () =>
        series.all().flatMap(({ labels, counts, sum, count }) => [
          ...buckets.map((le, i) => {
            const upToHere = counts.slice(0, i + 1).reduce((total, each) => total + each)
            return `${name}_bucket${labelText({ ...labels, le: String(le) })} ${upToHere}`
          }),
          `${name}_bucket${labelText({ ...labels, le: '+Inf' })} ${count}`,
          `${name}_sum${labelText(labels)} ${sum}`,
          `${name}_count${labelText(labels)} ${count}`,
        ]),
      )
      const histogram: Histogram = {
        observe(value, labels = noLabels) {
          const one = series.of(labels)
          for (let i = 0; i < buckets.length; i++) {
            if (value > buckets[i]!) continue
            one.counts[i]!++
            break
          }
          one.sum += value
          one.count++
        },
      }
      histograms.set(name, histogram)
      return histogram
    },
    gauge(name, help, read) {
      // By convention a name that ends in _total only ever grows.
      add(name, help, name.endsWith('_total') ? 'counter' : 'gauge', () => {
        const now = read()
        if (typeof now === 'number') return [`${name} ${now}`]
        return now.map(({ labels, value }) => `${name}${labelText(labels)} ${value}`)
      })
    },
    render: () => `${renderers.flatMap((lines) => lines()).join('\n')}\n`,
  }
}

// What every Node process should tell about itself.
export function addProcessMetrics(metrics: Metrics, version: string): void {
  metrics.gauge('partner_service_info', 'The version that runs.', () => [{ labels: { version }, value: 1 }])
  metrics.gauge(
    'process_cpu_seconds_total',
    'CPU time used by this process.',
    () => process.cpuUsage().user / 1e6 + process.cpuUsage().system / 1e6,
  )
  metrics.gauge('process_resident_memory_bytes', 'Memory held by this process.', () => process.memoryUsage.rss())
  metrics.gauge('process_uptime_seconds', 'Time since this process started.', () => process.uptime())
}

// One value for each set of labels. Callers on hot paths give the same object again and again, and are then known by it.
function createSeries<T extends object>(empty: () => T) {
  const known = new WeakMap<Labels, T & { labels: Labels }>()
  const byText = new Map<string, T & { labels: Labels }>()
  const find = (labels: Labels) => {
    const text = labelText(labels)
    const one = byText.get(text) ?? { ...empty(), labels }
    byText.set(text, one)
    known.set(labels, one)
    return one
  }
  return { of: (labels: Labels) => known.get(labels) ?? find(labels), all: () => [...byText.values()] }
}

function labelText(labels: Labels): string {
  const names = Object.keys(labels)
  if (names.length === 0) return ''
  return `{${names.map((name) => `${name}="${labels[name]!.replace(/[\\"\n]/g, (c) => (c === '\n' ? '\\n' : `\\${c}`))}"`).join(',')}}`
}
