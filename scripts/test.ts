// `npm test`: everything that decides whether a change may land. Types and lint first, then the whole suite on the embedded
// database and on a real PostgreSQL, which it starts itself. Arguments pick test files: `npm test -- test/partners`.
import { spawn } from 'node:child_process'
import { globSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { openEmbedded } from '../src/db/embedded.ts'
import { migrate } from '../src/db/migrate.ts'
import { openPostgres } from '../src/db/postgres.ts'
import { provideChromium } from '../test/support/chromium.ts'
import { templateDatabase } from '../test/support/database.ts'
import { startPostgres } from '../test/support/postgres.ts'
import { buildConsole, isBuilt } from './console.ts'

const chosen = process.argv.slice(2)
const log = pino({ level: 'warn' })

// Tests in test/project are about the project itself and run once, as do those in test/console-browser, which need a browser; those
// in test/crash kill things and need a real PostgreSQL; all others run on both databases.
const files = globSync('test/**/*.test.ts')
  .filter((file) => chosen.length === 0 || chosen.some((each) => file.startsWith(each)))
  .sort()
const projectFiles = files.filter((file) => file.startsWith('test/project/'))
const crashFiles = files.filter((file) => file.startsWith('test/crash/'))
const browserFiles = files.filter((file) => file.startsWith('test/console-browser/'))
const serviceFiles = files.filter(
  (file) => ![projectFiles, crashFiles, browserFiles].some((group) => group.includes(file)),
)
if (files.length === 0) throw new Error(`no test file starts with ${chosen.join(' or ')}`)

// Every test file and every service that it starts is a process of its own: they compile the sources once for all.
const compileCache = mkdtempSync(join(tmpdir(), 'partner-service-compiled-'))
process.env.NODE_COMPILE_CACHE = compileCache

const startedAt = Date.now()
let failed = false
if (chosen.length === 0) await step('types and lint', 'npm', ['run', '--silent', 'check'])
if (!isBuilt()) await buildConsole()
if (projectFiles.length > 0) await runTests('the project', projectFiles, {})
if (browserFiles.length > 0) {
  provideChromium()
  const templateFolder = await prepareEmbedded()
  await runTests('the console', browserFiles, { TEST_TEMPLATE_FOLDER: templateFolder, TEST_DATABASE: 'embedded' })
  rmSync(templateFolder, { recursive: true, force: true })
}
if (serviceFiles.length + crashFiles.length > 0) {
  const templateFolder = await prepareEmbedded()
  const postgres = await preparePostgres()
  try {
    const environment = { TEST_TEMPLATE_FOLDER: templateFolder, TEST_POSTGRES_URL: postgres.url() }
    const onPostgres = { ...environment, TEST_DATABASE: 'postgres' }
    if (serviceFiles.length > 0) {
      await runTests('the embedded database', serviceFiles, { ...environment, TEST_DATABASE: 'embedded' })
      await runTests('PostgreSQL', serviceFiles, onPostgres)
    }
    if (crashFiles.length > 0) await runTests('PostgreSQL, with crashes', crashFiles, onPostgres, 3) // they mostly wait
  } finally {
    await postgres.remove()
    rmSync(templateFolder, { recursive: true, force: true })
  }
}
rmSync(compileCache, { recursive: true, force: true })
process.stdout.write(`\n${failed ? 'FAILED' : 'All passed'} in ${Math.round((Date.now() - startedAt) / 1000)} s\n`)
process.exitCode = failed ? 1 : 0

function runTests(name: string, testFiles: string[], environment: Record<string, string>, atOnce = 4): Promise<void> {
  return step(
    `tests on ${name}`,
    process.execPath,
    ['--test', `--test-concurrency=${atOnce}`, '--test-reporter=spec', ...testFiles],
    environment,
  )
}

function step(name: string, command: string, args: string[], environment: Record<string, string> = {}): Promise<void> {
  process.stdout.write(`\n== ${name}\n`)
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: 'inherit', env: { ...process.env, ...environment } })
    child.once('error', reject)
    child.once('exit', (code) => {
      if (code !== 0) failed = true
      resolve()
    })
  })
}

async function prepareEmbedded(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'partner-service-template-'))
  const db = await openEmbedded(folder)
  await migrate(db)
  await db.close()
  rmSync(join(folder, 'lock'), { force: true })
  return folder
}

async function preparePostgres() {
  const server = await startPostgres()
  const onServer = await openPostgres(server.url(), { poolSize: 2, onIdleError: (error) => log.warn(error) })
  await onServer.query(`create database ${templateDatabase}`)
  await onServer.close()
  const template = await openPostgres(server.url(templateDatabase), {
    poolSize: 2,
    onIdleError: (error) => log.warn(error),
  })
  await migrate(template)
  await template.close()
  return server
}
