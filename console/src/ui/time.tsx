// Times in the reader's zone, UTC on hover; durations and countdowns in words.
import { useEffect, useState } from 'react'

const full = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
const short = new Intl.DateTimeFormat(undefined, {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
})
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' })

// One clock for all, so that ages on one page agree.
export function useNow(everyMs = 1_000): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs)
    return () => clearInterval(timer)
  }, [everyMs])
  return now
}

export function utc(value: string): string {
  const date = new Date(value)
  return Number.isNaN(date.getTime()) ? value : `${date.toISOString().replace('T', ' ').replace('Z', '')} UTC`
}

export function Time({ at, look = 'short' }: { at: string | null | undefined; look?: 'short' | 'full' | 'ago' }) {
  if (!at) return <span className="faint">–</span>
  const date = new Date(at)
  if (Number.isNaN(date.getTime())) return <span>{at}</span>
  if (look === 'ago') return <Ago at={at} />
  return (
    <time dateTime={at} title={utc(at)} className="time">
      {(look === 'full' ? full : short).format(date)}
    </time>
  )
}

function Ago({ at }: { at: string }) {
  const now = useNow(5_000)
  return (
    <time dateTime={at} title={utc(at)} className="time">
      {ago(Date.parse(at) - now)}
    </time>
  )
}

export function ago(ms: number): string {
  const seconds = Math.round(ms / 1_000)
  const size = Math.abs(seconds)
  if (size < 5) return 'just now'
  if (size < 60) return relative.format(seconds, 'second')
  if (size < 3_600) return relative.format(Math.round(seconds / 60), 'minute')
  if (size < 86_400) return relative.format(Math.round(seconds / 3_600), 'hour')
  return relative.format(Math.round(seconds / 86_400), 'day')
}

export function span(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  const seconds = Math.floor(ms / 1_000)
  if (seconds < 60) return `${seconds < 10 ? (ms / 1_000).toFixed(1) : seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`
  const hours = Math.floor(minutes / 60)
  return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} days`
}

export function Countdown({ until, past = 'now', before = '' }: { until: string; past?: string; before?: string }) {
  const left = Date.parse(until) - useNow()
  const words = span(Math.max(1, Math.ceil(left / 1_000)) * 1_000).replace('.0 s', ' s')
  return (
    <time dateTime={until} title={utc(until)}>
      {left <= 0 ? past : before + words}
    </time>
  )
}
