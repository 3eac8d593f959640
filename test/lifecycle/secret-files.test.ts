// The secrets that a sandbox makes for itself: one of each, however many processes start at once on one folder.
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'

const atOnce = 4
const racer = `
  const { workerData: { folder, gate, atOnce, module }, parentPort } = require('node:worker_threads')
  import(module).then(({ ensureOperatorToken }) => {
    if (Atomics.add(gate, 0, 1) + 1 < atOnce) while (Atomics.load(gate, 0) < atOnce);
    parentPort.postMessage(ensureOperatorToken(folder))
  })`

test('processes that start at once on one folder agree on its secrets, which only their owner can read', async (t) => {
  for (let round = 0; round < 10; round++) {
    const folder = mkdtempSync(join(tmpdir(), 'partner-service-test-'))
    t.after(() => rmSync(folder, { recursive: true, force: true }))
    const gate = new Int32Array(new SharedArrayBuffer(4))
    const module = new URL('../../src/sandbox/demo.ts', import.meta.url).href
    const tokens = await Promise.all(
      Array.from({ length: atOnce }, () => {
        const worker = new Worker(racer, { eval: true, workerData: { folder, gate, atOnce, module } })
        return new Promise<string>((resolve, reject) => worker.once('message', resolve).once('error', reject))
      }),
    )
    assert.equal(new Set(tokens).size, 1)
    assert.deepEqual(readdirSync(folder), ['operator-token'])
    assert.equal(statSync(join(folder, 'operator-token')).mode & 0o777, 0o600)
  }
})
