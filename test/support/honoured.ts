// Whether a change made on one process holds on another within a second.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ApiReply } from './client.ts'

export const withinMs = 1_000

// Calls all the while, before and after the change. Whatever begins more than a second after the change was acknowledged must be
// answered in the new way, and nothing is answered in the old way again once the new one was seen.
export async function assertHonoured(
  change: () => Promise<ApiReply>,
  call: () => Promise<ApiReply>,
  isNew: (reply: ApiReply) => boolean,
): Promise<void> {
  for (let i = 0; i < 3; i++) assert.ok(!isNew(await call())) // remembered over there by now
  const reply = await change()
  assert.ok(reply.status < 300, reply.text)
  const acknowledgedAt = performance.now()
  let seen = false
  let late = 0
  while (late < 20) {
    const begunAt = performance.now()
    const honoured = isNew(await call())
    if (begunAt > acknowledgedAt + withinMs) {
      assert.ok(honoured, `not honoured ${Math.round(begunAt - acknowledgedAt)} ms after the change`)
      late++
    }
    assert.ok(honoured || !seen, 'the old answer came back')
    seen ||= honoured
    await sleep(10)
  }
}
