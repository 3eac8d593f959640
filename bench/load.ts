// The load generator: a number of callers, each with its own connection and its next request only after the last answer.
import { Pool } from 'undici'
import { serveCommands } from './lib/child.ts'

export interface LoadPlan {
  readonly url: string
  readonly path: string // `{i}` becomes a running number, here and in the body
  readonly method: 'GET' | 'POST'
  readonly headers: Record<string, string>
  readonly body?: string
  readonly count: number
  readonly callers: number
  readonly status: number // what every answer must be
}

let sent = 0

serveCommands({
  // Seconds it took; fails when an answer is not what it should be.
  async run({ url, path, method, headers, body, count, callers, status }: LoadPlan): Promise<number> {
    const pool = new Pool(url, { connections: callers, pipelining: 1 })
    let next = 0
    const one = () =>
      new Promise<void>((resolve, reject) => {
        const i = String(++sent)
        let answered = 0
        pool.dispatch(
          { path: path.replace('{i}', i), method, headers, ...(body ? { body: body.replaceAll('{i}', i) } : {}) },
          {
            onRequestStart() {},
            onResponseStart(_controller, code) {
              answered = code
            },
            onResponseData() {},
            onResponseEnd: () => (answered === status ? resolve() : reject(new Error(`answered ${answered}`))),
            onResponseError: (_controller, error) => reject(error),
          },
        )
      })
    const startedAt = performance.now()
    await Promise.all(
      Array.from({ length: callers }, async () => {
        while (next++ < count) await one()
      }),
    )
    const seconds = (performance.now() - startedAt) / 1_000
    await pool.close()
    return seconds
  },
})
