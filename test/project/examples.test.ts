// The examples work: every `sh` block of these pages runs against a freshly started service, each call has to succeed, and a `json`
// or `text` block that follows says what is printed (`…` stands for anything).
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { type FreshService, startFresh } from '../support/fresh.ts'

interface Block {
  readonly language: string
  readonly text: string
}

ensureCurl()

const pages: Readonly<Record<string, Record<string, string>>> = {
  'README.md': {},
  'docs/start.md': {},
  'docs/orders.md': {},
  'docs/payouts.md': { PAYOUT_RAIL: 'operator' },
}

for (const [page, environment] of Object.entries(pages)) {
  test(`every example of ${page} does what it says`, async (t) => {
    const service = await startFresh(t, environment)
    const blocks = readBlocks(page)
    const examples = blocks.flatMap(({ language, text }, i) =>
      language === 'sh' ? [{ text, shown: blocks[i + 1] }] : [],
    )
    assert.ok(examples.length >= 3, 'the examples were found')
    const printed = runShell(
      service,
      examples.map(({ text }) => text),
    )
    for (const [i, { text, shown }] of examples.entries()) {
      if (shown?.language === 'json') assertShown(JSON.parse(printed[i]!), JSON.parse(shown.text), text)
      if (shown?.language === 'text') assert.match(oneSpace(printed[i]!), pattern(oneSpace(shown.text)), text)
    }
  })
}

test('the signing example on the API page is the one that is run', () => {
  const onPage = readBlocks('docs/api.md').find(({ language }) => language === 'js')
  assert.equal(onPage?.text, readFileSync('docs/examples/sign.mjs', 'utf8'))
})

function readBlocks(page: string): Block[] {
  const fences = readFileSync(page, 'utf8').matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)
  return [...fences].map(([, language, text]) => ({ language: language!, text: text! }))
}

// One shell for the whole page, as for a reader: what an example sets, later ones use. A failing call ends it.
function runShell({ url, operatorUrl, dataDir }: FreshService, scripts: readonly string[]): string[] {
  const separator = '---- next example ----'
  const here = (script: string) =>
    script
      .replaceAll('localhost:8080', new URL(url).host)
      .replaceAll('127.0.0.1:8081', new URL(operatorUrl).host)
      .replaceAll(/(?<![\w/.])data\//g, `${dataDir}/`)
  const script = `set -eu
curl() { command curl --silent --show-error --fail-with-body "$@"; }
${scripts.map(here).join(`\necho '${separator}'\n`)}`
  const shell = spawnSync('sh', ['-c', script], {
    encoding: 'utf8',
    env: { ...process.env, DATA_DIR: dataDir, OPERATOR_PORT: new URL(operatorUrl).port, npm_config_loglevel: 'error' },
  })
  assert.equal(shell.status, 0, `an example failed:\n${shell.stdout}\n${shell.stderr}`)
  return shell.stdout.split(`${separator}\n`)
}

function assertShown(actual: unknown, shown: unknown, place: string): void {
  if (typeof shown === 'string') assert.match(String(actual), pattern(shown), place)
  else if (Array.isArray(shown)) {
    assert.ok(Array.isArray(actual), place)
    const more = shown.at(-1) === '…'
    const items = more ? shown.slice(0, -1) : shown
    if (!more) assert.equal(actual.length, items.length, place)
    for (const [i, item] of items.entries()) assertShown(actual[i], item, `${place}[${i}]`)
  } else if (typeof shown === 'object' && shown !== null) {
    assert.ok(typeof actual === 'object' && actual !== null, place)
    const { '…': more, ...members } = shown as Record<string, unknown>
    if (more === undefined) assert.deepEqual(Object.keys(actual).sort(), Object.keys(members).sort(), place)
    for (const [name, value] of Object.entries(members)) {
      assertShown((actual as Record<string, unknown>)[name], value, `${place}.${name}`)
    }
  } else assert.equal(actual, shown, place)
}

function pattern(shown: string): RegExp {
  return new RegExp(`^${shown.split('…').map(RegExp.escape).join('.*')}$`, 's')
}

function oneSpace(text: string): string {
  return text.trim().replaceAll(/\s+/g, ' ')
}

// The examples are for curl, and only curl shows that they work; a bare machine may lack it.
function ensureCurl(): void {
  const has = () => spawnSync('curl', ['--version']).status === 0
  if (has()) return
  spawnSync('sh', ['-c', 'apt-get update && apt-get install -y --no-install-recommends curl'], { stdio: 'inherit' })
  assert.ok(has(), 'the examples are run with curl: install it (apt-get install curl)')
}
