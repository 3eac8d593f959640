// The package that would be published: holds what running needs and nothing else, and runs when installed on its own.
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

const folder = mkdtempSync(join(tmpdir(), 'partner-service-package-'))
after(() => rmSync(folder, { recursive: true, force: true }))

const [packed] = JSON.parse(run('npm', ['pack', '--json', '--pack-destination', folder])) as [
  { filename: string; files: { path: string }[] },
]
const paths = packed.files.map((file) => file.path)

test('the package holds the build, the command, the documents and nothing else', () => {
  const built = globSync('src/**/*.ts').map((file) => file.replace(/^src/, 'dist').replace(/\.ts$/, '.js'))
  const migrations = globSync('src/db/migrations/*.sql').map((file) => file.replace(/^src/, 'dist'))
  const documents = globSync('docs/**/*.*')
  const top = ['CHANGELOG.md', 'LICENSE', 'README.md', 'package.json', 'bin/partner-service.js']
  const console = globSync('console/dist/**/*.*')
  assert.ok(console.some((file) => file.endsWith('.js.br')) && console.includes('console/dist/index.html'))
  assert.deepEqual(paths.sort(), [...built, ...migrations, ...console, ...documents, ...top].sort())
})

test('the installed package starts with its command, answers, and has the console', async (t) => {
  const home = join(folder, 'home')
  mkdirSync(home)
  writeFileSync(join(home, 'package.json'), '{ "private": true }')
  // Without install scripts: the only one is that of the package `node`, and the Node that runs this test takes its place.
  run(
    'npm',
    ['install', '--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund', join(folder, packed.filename)],
    home,
  )
  const child = spawn(join(home, 'node_modules/.bin/partner-service'), ['serve'], {
    cwd: home,
    env: { PATH: [dirname(process.execPath), process.env.PATH].join(delimiter), PORT: '0', OPERATOR_PORT: '0' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exited = once(child, 'exit')
  t.after(() => child.kill('SIGKILL'))
  let output = ''
  let log = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk))
  child.stderr.on('data', (chunk: Buffer) => (log += chunk))
  while (!log.includes('"msg":"ready"')) {
    assert.equal(child.exitCode, null, `it did not start:\n${output}\n${log}`)
    await sleep(50)
  }
  const url = /Partner API +(\S+)\/v1/.exec(output)?.[1]
  const reply = await fetch(`${url}/livez`)
  assert.deepEqual([reply.status, await reply.json()], [200, { status: 'ok' }])
  const page = await fetch(`${url}/console`)
  assert.equal(page.status, 200)
  const script = /<script type="module" crossorigin src="([^"]+)"/.exec(await page.text())?.[1]
  assert.equal((await fetch(new URL(script!, url))).headers.get('content-type'), 'text/javascript; charset=utf-8')
  child.kill('SIGTERM')
  assert.deepEqual(await exited, [0, null])
})

function run(command: string, args: string[], cwd = process.cwd()): string {
  return execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
}
