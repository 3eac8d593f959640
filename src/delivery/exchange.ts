// One request and its answer as an outcome, within one deadline over DNS, connecting, TLS and the status line. Once there is a
// status, whatever the rest does is of no consequence: what arrives of the body until the limit or the deadline is kept.
import type { Dispatcher } from 'undici'
import { errorKindOf, type Outcome } from './outcome.ts'

const bodyLimitBytes = 16 * 1024

export interface Deadline {
  readonly startedAt: number
  readonly timeoutMs: number
}

export function exchange(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  { startedAt, timeoutMs }: Deadline,
): Promise<Outcome> {
  return new Promise((resolve) => {
    let controller: Dispatcher.DispatchController | undefined
    let answer: { status: number; retryAfterMs: number | undefined } | undefined
    const chunks: Buffer[] = []
    let size = 0
    let over = false

    const finish = (outcome: (durationMs: number) => Outcome) => {
      if (over) return
      over = true
      clearTimeout(deadline)
      resolve(outcome(Math.round(performance.now() - startedAt)))
    }
    const finishWith = (error: Error | undefined) => {
      if (answer) {
        const body = Buffer.concat(chunks).subarray(0, bodyLimitBytes)
        return finish((durationMs) => ({ kind: 'status', ...answer!, body, durationMs }))
      }
      const kind = errorKindOf(error!)
      const detail = error!.message.slice(0, 500)
      finish((durationMs) => ({ kind, detail, durationMs }))
    }
    const drop = () => controller?.abort(new Error('the rest of the answer is not wanted'))
    const deadline = setTimeout(
      () => {
        if (answer) finishWith(undefined)
        else finish((durationMs) => ({ kind: 'timeout', detail: `no status within ${timeoutMs} ms`, durationMs }))
        drop()
      },
      Math.ceil(startedAt + timeoutMs - performance.now()),
    )

    dispatcher.dispatch(request, {
      onRequestStart(started) {
        controller = started
        if (over) drop() // the deadline passed while the connection was being made
      },
      onResponseStart(_controller, status, headers) {
        if (status >= 200) answer = { status, retryAfterMs: parseRetryAfter(headers['retry-after']) }
      },
      onResponseData(_controller, chunk) {
        chunks.push(chunk)
        size += chunk.length
        if (size < bodyLimitBytes) return
        finishWith(undefined)
        drop()
      },
      onResponseEnd: () => finishWith(undefined),
      onResponseError: (_controller, error) => finishWith(error),
    })
  })
}

// Seconds, or a date. Only a pause worth the name counts.
function parseRetryAfter(header: string | string[] | undefined): number | undefined {
  const text = [header].flat()[0]?.trim()
  if (!text) return undefined
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - Date.now()
  return ms > 0 ? ms : undefined
}
