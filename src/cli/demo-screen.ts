// What the demo shows, at 80 columns: each step with its headline, its calls, the webhooks that came and what was checked. Colours
// and pauses are for terminals only; with --json each step is one line.
import { setTimeout as sleep } from 'node:timers/promises'
import { styleText } from 'node:util'
import type { Delivery } from './demo-receiver.ts'
import { layOut, only, wrap } from './demo-text.ts'

export interface Exchange {
  readonly method: string
  readonly path: string
  readonly body?: unknown
  readonly status: number
  readonly reply: unknown
}

export interface Screen {
  readonly failures: number
  say(text: string): void // outside of any step
  step(title: string, text: string): Promise<void>
  call(exchange: Exchange, shown: readonly string[] | string): void // the members of the reply worth showing, or text instead
  webhook(delivery: Delivery): void
  check(what: string, holds: boolean): void
  end(): void
}

const margin = 4
const width = 80 - margin
const pauseMs = 1_500
const stream = process.stdout
const paint = (style: Parameters<typeof styleText>[0], text: string) => styleText(style, text, { stream })
const print = (text = '') => stream.write(`${text}\n`)

export function createTextScreen({ pauses }: { pauses: boolean }): Screen {
  let steps = 0
  let failures = 0
  const lines = (texts: readonly string[], by = margin) => {
    for (const text of texts) print(' '.repeat(by) + text)
  }
  const check = (what: string, holds: boolean, by = margin) => {
    if (!holds) failures++
    const [mark, style] = holds ? (['✓', 'green'] as const) : (['✗ NOT SO:', 'red'] as const)
    const [first = '', ...rest] = wrap(`${mark} ${what}`, width)
    lines([paint(style, first), ...rest.map((line) => paint(style, `  ${line}`))], by)
  }
  return {
    get failures() {
      return failures
    },
    say: (text) => print(text),
    async step(title, text) {
      if (pauses && steps > 0) await sleep(pauseMs)
      print(`\n${paint('bold', `${String(++steps).padStart(2)}  ${title}`)}`)
      lines(wrap(text, width))
    },
    call({ method, path, body, status, reply }, shown) {
      const answer = typeof shown === 'string' ? shown.split('\n') : layOut(only(reply, shown), width)
      print()
      lines([paint('cyan', `${method} ${path}`)])
      if (body !== undefined) lines(layOut(body, width).map((line) => paint('dim', line)))
      lines([paint(status < 300 ? 'green' : 'yellow', String(status)), ...answer])
    },
    webhook({ event, verdict, headers }) {
      const { state = '' } = (event.partner_order ?? {}) as { state?: string }
      print()
      lines([`${paint('magenta', `← ${headers['x-event-type']}`)}  ${state}`])
      if (!verdict.ok) return check(`it can be believed (${verdict.why})`, false, margin + 2)
      const { exp = 0, iat = 0, digest } = verdict.claims
      const facts = `digest ${String(digest).slice(0, 8)}…, aud is our subscription, exp in ${exp - iat} s`
      check(`${verdict.algorithm} signature, ${facts}`, true, margin + 2)
    },
    check(what, holds) {
      print()
      check(what, holds)
    },
    end: () => print(),
  }
}

export function createJsonScreen(): Screen {
  let failures = 0
  let steps = 0
  let line: { calls: object[]; webhooks: object[]; checks: { what: string; ok: boolean }[] } | undefined
  const check = (what: string, ok: boolean) => {
    if (!ok) failures++
    line?.checks.push({ what, ok })
  }
  const end = () => {
    if (line) print(JSON.stringify({ ...line, ok: line.checks.every(({ ok }) => ok) }))
    line = undefined
  }
  return {
    get failures() {
      return failures
    },
    say: () => {},
    async step(title) {
      end()
      line = { ...{ step: ++steps, title }, calls: [], webhooks: [], checks: [] }
    },
    call: (exchange) => line?.calls.push(exchange),
    webhook({ event, verdict }) {
      line?.webhooks.push({ event, verdict })
      check('the webhook is verified', verdict.ok)
    },
    check,
    end,
  }
}
