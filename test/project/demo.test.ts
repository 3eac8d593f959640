// `npm run demo`: the real command tells its whole story, finds it true and leaves nothing behind; and what it uses to be sure,
// the verifier, the certificates and the screen, can be relied on. About 20 s, most of it two runs of the demo side by side.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import 'reflect-metadata'
import * as x509 from '@peculiar/x509'
import { makeCertificates } from '../../src/cli/demo-certificates.ts'
import { type Delivery, type Receiver, startReceiver } from '../../src/cli/demo-receiver.ts'
import type { Screen } from '../../src/cli/demo-screen.ts'
import { tellStory } from '../../src/cli/demo-story.ts'
import { layOut, only, wrap } from '../../src/cli/demo-text.ts'
import { testAuthority } from '../support/endpoint.ts'
import { startFresh } from '../support/fresh.ts'

const titles = [
  ...['The account', 'Subscribe an endpoint', 'Say where to pay', 'Create an order', 'Nothing has moved'],
  ...['Confirm it', 'The bank pays', 'Confirm it again', 'A payout that fails', 'The statement', 'The proof'],
  'A forged webhook',
]

const states = [
  ...['awaiting_confirmation', 'awaiting_confirmation', 'cancelled', 'completed'],
  ...['pending', 'pending', 'processing', 'processing'],
]

test('the demo tells the whole story in 80 columns, as text and as JSON, and leaves nothing behind', async (t) => {
  const [text, json] = await Promise.all([runDemo(t), runDemo(t, '--json')])
  assert.deepEqual([text.code, text.errors, json.code, json.errors], [0, '', 0, ''])

  const lines = text.output.split('\n')
  const headlines = lines.filter((line) => /^[ \d]\d {2}/.test(line)).map((line) => line.slice(4))
  assert.deepEqual(headlines, titles)
  const told = lines.filter((line) => line.includes('←')).map((line) => line.split('  ').at(-1)!)
  assert.deepEqual(told.sort(), states) // several at once may come in another order
  assert.equal(
    lines.filter((line) => /✓ ES256 signature, digest [0-9a-f]{8}…, aud .*, exp in 300 s/.test(line)).length,
    8,
  )
  assert.match(text.output, /"state": "cancelled",\s+"state_reason": "payout_failed"/)
  assert.match(text.output, /✓ it is refused: the body is not the one that was signed\n\nEverything held\./)
  assert.deepEqual(
    lines.filter((line) => line.length > 80),
    [],
  )
  assert.ok(!text.output.includes('\u001b') && !text.output.includes('✗'), 'no colours in a file, and nothing failed')

  const steps = json.output
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  assert.deepEqual(
    steps.map(({ title }) => title),
    titles,
  )
  assert.ok(steps.every(({ ok }) => ok))
  const verified = steps.flatMap(({ webhooks }) => webhooks).filter(({ verdict }) => verdict.ok)
  assert.deepEqual(verified.map(({ event }) => event.partner_order.state).sort(), states)
})

// In an environment that is set up for something else, which it must not use.
async function runDemo(t: TestContext, ...args: string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'partner-service-demo-test-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const temporary = mkdtempSync(join(folder, 'tmp-'))
  const own = { MODE: 'production', DATABASE_URL: 'postgres://127.0.0.1:1/nowhere', DATA_DIR: join(folder, 'data') }
  const child = spawn('npm', ['run', '--silent', 'demo', '--', ...args], {
    env: { PATH: process.env.PATH ?? '', TMPDIR: temporary, npm_config_loglevel: 'error', ...own },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [output, errors] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (chunk) => (output += chunk))
  child.stderr.setEncoding('utf8').on('data', (chunk) => (errors += chunk))
  const [code] = await once(child, 'close')
  const left = readdirSync(temporary).filter((name) => name.startsWith('partner-service'))
  assert.deepEqual([existsSync(own.DATA_DIR), left], [false, []], 'it leaves nothing behind')
  return { code, output, errors }
}

test('a webhook that was tampered with on its way makes the demo fail', async (t) => {
  const service = await startFresh(t)
  const { cert: certificate, key } = await (await testAuthority()).issue(['127.0.0.1'])
  const receiver = await startReceiver({ authority: '', certificate, key })
  t.after(receiver.close)
  const failed: string[] = []
  const screen: Screen = {
    ...{ failures: 0, say() {}, async step() {}, call() {}, end() {} },
    webhook: ({ verdict }) => verdict.ok || failed.push(verdict.why),
    check: (what, holds) => holds || failed.push(what),
  }
  const liar: Receiver = { ...receiver, next: async (ms) => forged(await receiver.next(ms)) }
  const { url, operatorUrl, operatorToken, demoSecret } = service
  const stage = { url, operatorUrl, operatorToken, key: demoSecret, receiver: liar, screen }
  await assert.rejects(tellStory(stage), /A webhook could not be verified/)
  assert.deepEqual(failed, ['forged'])
})

function forged(delivery: Delivery): Delivery {
  assert.equal(delivery.verdict.ok, true)
  return { ...delivery, verdict: { ok: false, why: 'forged' } }
}

test('the certificates are what others take them for: an authority, and a certificate of it for loopback', async () => {
  const { authority, certificate, key } = makeCertificates()
  const [root, own] = [new X509Certificate(authority), new X509Certificate(certificate)]
  assert.ok(root.ca && root.verify(root.publicKey) && root.checkIssued(root))
  assert.ok(!own.ca && own.verify(root.publicKey) && own.checkIssued(root))
  assert.equal(own.checkHost('localhost'), 'localhost')
  assert.deepEqual([own.checkIP('127.0.0.1'), own.checkIP('::1')], ['127.0.0.1', '::1'])
  assert.equal(own.checkHost('example.com'), undefined)
  assert.match(key, /^-----BEGIN PRIVATE KEY-----/)

  const read = new x509.X509Certificate(certificate)
  assert.ok(await read.verify({ publicKey: new x509.X509Certificate(authority), signatureOnly: false }))
  assert.equal(read.issuer, 'CN=Partner Service demo authority')
  const days = (read.notAfter.getTime() - read.notBefore.getTime()) / 86_400_000
  assert.ok(days <= 2 && read.notBefore < new Date() && read.notAfter > new Date())
})

test('JSON is laid out within the width, trimmed to what was asked for, and still says the same', () => {
  const order = { id: 'ord_1', state: 'pending', withdrawal: { amount: '10.00', fee_amount: '1.00' }, closed_at: null }
  assert.deepEqual(layOut(only(order, ['id', 'withdrawal.amount']), 80), [
    '{ "id": "ord_1", "withdrawal": { "amount": "10.00", … }, … }',
  ])
  const list = { items: [order, { ...order, label: 'Rent' }], empty: {}, none: [] }
  for (const width of [30, 40, 60, 76]) {
    const lines = layOut(list, width)
    assert.ok(lines.length > 1 && lines.every((line) => line.length <= width), lines.join('\n'))
    assert.deepEqual(JSON.parse(lines.join('\n')), list)
  }
  assert.deepEqual(wrap('one two three', 7), ['one two', 'three'])
})
