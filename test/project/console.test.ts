// The console comes with `npm start`: it is built when it is missing or older than its sources.
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { buildConsole, isBuilt } from '../../scripts/console.ts'

test('`npm start` builds the console first, when that is needed', () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> }
  assert.equal(scripts.prestart, 'node scripts/console.ts --when-needed')
})

test('a console that is missing or older than a source is not taken for built', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'partner-service-built-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const dist = join(folder, 'dist')
  assert.ok(!isBuilt(dist))
  await buildConsole(dist)
  assert.ok(isBuilt(dist))
  assert.ok(existsSync(join(dist, 'index.html')))

  const page = statSync(join(dist, 'index.html'))
  const before = new Date(statSync('console/src/main.tsx').mtimeMs - 1_000)
  utimesSync(join(dist, 'index.html'), before, before)
  assert.ok(!isBuilt(dist), 'a newer source makes it old')
  utimesSync(join(dist, 'index.html'), page.atime, page.mtime)
  assert.ok(isBuilt(dist))
  await buildConsole(dist)
  assert.ok(isBuilt(dist), 'it is built over the old one')
})
