// Timestamps. Inside the service a time is ISO 8601 in UTC with microseconds (`2026-01-05T12:00:00.123456Z`), as the database
// layer hands it out; each resource writes it to the wire in the form its specification asks for.

export type Timestamp = string

// Subscriptions and everything not specified otherwise: 2026-01-05T12:00:00Z
export function utcSeconds(time: Timestamp): string {
  return `${time.slice(0, 19)}Z`
}

export function utcSecondsOrNull(time: Timestamp | null): string | null {
  return time === null ? null : utcSeconds(time)
}

// Webhook events: 2026-01-05T12:00:00.123456+00:00
export function offsetMicros(time: Timestamp): string {
  return `${time.slice(0, 26)}+00:00`
}

export function offsetMicrosOrNull(time: Timestamp | null): string | null {
  return time === null ? null : offsetMicros(time)
}

// Orders: 2026-01-05T12:00:00+00:00
export function offsetSeconds(time: Timestamp): string {
  return `${time.slice(0, 19)}+00:00`
}

export function offsetSecondsOrNull(time: Timestamp | null): string | null {
  return time === null ? null : offsetSeconds(time)
}

// A time as callers write it (any offset, any year, up to nanoseconds) to the inside form; what lies outside of the years that
// both JavaScript and PostgreSQL can write becomes the nearest that does not.
export function fromWire(text: string): Timestamp {
  const ms = Date.parse(text)
  if (ms < 0) return '1970-01-01T00:00:00.000000Z'
  if (ms > lastMs) return new Date(lastMs).toISOString().replace('Z', '999Z')
  const fraction = (/\.(\d+)/.exec(text)?.[1] ?? '').slice(0, 6).padEnd(6, '0')
  return `${new Date(ms).toISOString().slice(0, 19)}.${fraction}Z`
}
const lastMs = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

// PostgreSQL's text form ('2026-01-05 12:00:00.123456+00', in whatever zone the session has) to the inside form.
export function fromDatabase(text: string): Timestamp {
  const [, date, clock, micros = '', zone] =
    /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)(?:\.(\d{1,6}))?([+-]\d\d(?::\d\d)?)$/.exec(text) ?? []
  if (!date || !clock || !zone) throw new Error(`not a timestamp as PostgreSQL writes it: ${text}`)
  const fraction = micros.padEnd(6, '0')
  if (zone === '+00' || zone === '+00:00') return `${date}T${clock}.${fraction}Z`
  const offset = zone.length === 3 ? `${zone}:00` : zone
  return `${new Date(`${date}T${clock}${offset}`).toISOString().slice(0, 19)}.${fraction}Z`
}

const unitMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

// '90s', '15m', '1h30m': whole numbers with units; undefined when it is anything else.
export function parseDurationMs(text: string): number | undefined {
  if (!/^(\d{1,9}(ms|s|m|h|d))+$/.test(text)) return undefined
  let total = 0
  for (const [, amount, unit] of text.matchAll(/(\d+)(ms|s|m|h|d)/g))
    total += Number(amount) * unitMs[unit as keyof typeof unitMs]
  return total
}
