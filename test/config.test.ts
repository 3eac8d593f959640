// Configuration: all mistakes at once, secrets never printed, production only with what it needs, and a database that keeps the
// mode it was made for.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { pino } from 'pino'
import { describeSettings, parseConfig } from '../src/config.ts'
import { startService } from '../src/service.ts'
import { createClient } from './support/client.ts'
import { createDatabase } from './support/database.ts'
import { startTestService } from './support/service.ts'

const token = 'a-token-of-at-least-24-characters'
const key = `1:${Buffer.alloc(32, 7).toString('base64')}`
const [second, minute, hour, day] = [1_000, 60_000, 3_600_000, 86_400_000]

function mistakesOf(environment: Record<string, string>): string[] {
  const result = parseConfig(environment)
  return result.ok ? [] : result.mistakes
}

test('with nothing set it is a sandbox with the documented defaults', () => {
  const result = parseConfig({})
  assert.ok(result.ok)
  assert.deepEqual(result.config, {
    mode: 'sandbox',
    role: 'all',
    host: '0.0.0.0',
    port: 8080,
    operatorHost: '127.0.0.1',
    operatorPort: 8081,
    operatorAllowedHosts: [],
    publicUrl: 'http://localhost:8080',
    trustedProxies: [],
    databaseUrl: undefined,
    databaseDirectUrl: undefined,
    databasePoolSize: 10,
    dataDir: './data',
    operatorToken: undefined,
    masterKey: undefined,
    signingAlgorithm: 'ES256',
    signingKeyRotationMs: 90 * day,
    webhookRetryScheduleMs: [
      5 * second,
      30 * second,
      2 * minute,
      5 * minute,
      15 * minute,
      30 * minute,
      hour,
      2 * hour,
      4 * hour,
      8 * hour,
      12 * hour,
      day,
      day,
    ],
    webhookTimeoutMs: 30 * second,
    webhookAllowedNetworks: [],
    webhookCaFile: undefined,
    webhookProxy: undefined,
    operationsWebhookUrl: undefined,
    retentionMs: 60 * day,
    orderConfirmationWindowMs: 15 * minute,
    payoutRail: 'sandbox',
    rateLimit: { perSecond: 100, burst: 500 },
    logLevel: 'info',
  })
})

test('every mistake is reported at once, each beginning with its setting', () => {
  const bad = {
    MODE: 'staging',
    PORT: 'http',
    OPERATOR_PORT: '70000',
    PUBLIC_URL: 'ftp://example.com',
    TRUSTED_PROXIES: '10.0.0.0/8, nonsense',
    DATABASE_URL: 'mysql://root@localhost/db',
    DATABASE_POOL_SIZE: '1',
    OPERATOR_TOKEN: 'short',
    RATE_LIMIT: 'fast',
    LOG_LEVEL: 'loud',
  }
  assert.deepEqual(
    mistakesOf(bad).map((each) => each.split(' ')[0]),
    Object.keys(bad).sort((a, b) => position(a) - position(b)),
  )
})

function position(name: string): number {
  return describeSettings().findIndex((each) => each.name === name)
}

test('each setting refuses what it cannot be', () => {
  for (const [name, values] of Object.entries({
    PORT: ['-1', '65536', '8080.5', '0x50', '1e3'],
    DATABASE_POOL_SIZE: ['0', '1001', 'ten'],
    PUBLIC_URL: ['example.com', 'javascript:alert(1)', '//example.com'],
    DATABASE_URL: ['localhost', 'http://localhost/db'],
    TRUSTED_PROXIES: ['10.0.0.0/40', '*', '10.0.0.1-10.0.0.9'],
    WEBHOOK_RETRY_SCHEDULE: ['soon', '5', '5s;30s', ','],
    WEBHOOK_TIMEOUT: ['30', '1ms', '1h'],
    WEBHOOK_ALLOWED_NETWORKS: ['10.0.0.0/40'],
    RETENTION: ['0d', '60'],
    ORDER_CONFIRMATION_WINDOW: ['15', '0s', '999ms', '31d', 'soon'],
    PAYOUT_RAIL: ['bank', 'Operator'],
    ROLE: ['both'],
    RATE_LIMIT: ['100', '0:10', '10:0', '1.5:10', '-1:5', 'off:off'],
  })) {
    for (const value of values) {
      const mistakes = mistakesOf({ [name]: value })
      assert.equal(mistakes.length, 1, `${name}=${value}`)
      assert.ok(mistakes[0]!.startsWith(`${name} `), mistakes[0]!)
    }
  }
})

test('the value of a secret is never part of a message, and other values are, to be found again', () => {
  const mistakes = mistakesOf({
    OPERATOR_TOKEN: 'hush-hush',
    DATABASE_URL: 'postgre://user:hush-hush@db.example/x',
    RATE_LIMIT: 'plain-to-see',
  }).join('\n')
  assert.match(mistakes, /OPERATOR_TOKEN/)
  assert.match(mistakes, /DATABASE_URL/)
  assert.match(mistakes, /plain-to-see/)
  assert.ok(!mistakes.includes('hush'))
  const secret = describeSettings().filter((each) => each.secret)
  assert.deepEqual(secret.map((each) => each.name).sort(), [
    'DATABASE_DIRECT_URL',
    'DATABASE_URL',
    'MASTER_KEY',
    'OPERATIONS_WEBHOOK_URL',
    'OPERATOR_TOKEN',
    'WEBHOOK_PROXY',
  ])
})

test('production needs its secrets and a real database, and says all that is missing', () => {
  const names = (environment: Record<string, string>) => mistakesOf(environment).map((each) => each.split(' ')[0])
  const url = 'postgres://service@db.example/partner'
  const complete = { MODE: 'production', DATABASE_URL: url, OPERATOR_TOKEN: token, MASTER_KEY: key }
  assert.deepEqual(names({ MODE: 'production' }).sort(), ['DATABASE_URL', 'MASTER_KEY', 'OPERATOR_TOKEN'])
  assert.deepEqual(names({ MODE: 'production', OPERATOR_TOKEN: token, MASTER_KEY: key }), ['DATABASE_URL'])
  assert.deepEqual(names({ ...complete, OPERATOR_TOKEN: ' ' }), ['OPERATOR_TOKEN'])
  assert.deepEqual(names({ ...complete, OPERATOR_TOKEN: 'short' }), ['OPERATOR_TOKEN'])
  assert.deepEqual(names({ ...complete, MASTER_KEY: '' }), ['MASTER_KEY'])
  assert.deepEqual(names({ ...complete, MASTER_KEY: '1:dG9vIHNob3J0' }), ['MASTER_KEY'])
  assert.deepEqual(names({ ...complete, MASTER_KEY: `${key},${key}` }), ['MASTER_KEY'])
  assert.deepEqual(names({ ...complete, WEBHOOK_TIMEOUT: '29s' }), ['WEBHOOK_TIMEOUT'])
  assert.deepEqual(names({ ...complete, PAYOUT_RAIL: 'sandbox' }), ['PAYOUT_RAIL'])
  assert.deepEqual(names(complete), [])
})

test('orders are paid by the sandbox in sandbox mode and by the operator in production, unless a rail is named', () => {
  const production = {
    MODE: 'production',
    DATABASE_URL: 'postgres://db.example/x',
    OPERATOR_TOKEN: token,
    MASTER_KEY: key,
  }
  for (const [environment, rail] of [
    [{}, 'sandbox'],
    [{ PAYOUT_RAIL: 'operator' }, 'operator'],
    [production, 'operator'],
    [{ ...production, PAYOUT_RAIL: 'operator' }, 'operator'],
  ] as const) {
    const result = parseConfig(environment)
    assert.ok(result.ok)
    assert.equal(result.config.payoutRail, rail)
  }
})

// Runs the real command in a folder of its own, as a person would.
function run(t: TestContext, environment: Record<string, string>, dotEnv?: string) {
  const folder = mkdtempSync(join(tmpdir(), 'partner-service-config-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  if (dotEnv !== undefined) writeFileSync(join(folder, '.env'), dotEnv)
  const main = join(import.meta.dirname, '../src/main.ts')
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, 'serve'], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? '', ...environment },
    encoding: 'utf8',
    timeout: 60_000,
  })
  return { status, output: stdout + stderr }
}

test('the command reports every mistake, prints no secret, and exits with 1', (t) => {
  const { status, output } = run(t, {
    MODE: 'production',
    OPERATOR_TOKEN: 'hush-hush',
    PORT: 'http',
    LOG_LEVEL: 'loud',
  })
  assert.equal(status, 1)
  for (const name of ['OPERATOR_TOKEN', 'DATABASE_URL', 'PORT', 'LOG_LEVEL'])
    assert.match(output, new RegExp(`- ${name} `))
  assert.match(output, /5 mistakes/)
  assert.ok(!output.includes('hush'))
  assert.ok(!output.includes('    at '), 'a mistake is no crash')
})

test('.env in the working folder is read, and the environment wins over it', (t) => {
  const dotEnv = 'PORT=from-the-file\nLOG_LEVEL=from-the-file\n# a comment\nRATE_LIMIT="from the file"\n'
  const { status, output } = run(t, { LOG_LEVEL: 'from-the-environment' }, dotEnv)
  assert.equal(status, 1)
  assert.match(output, /- PORT .*"from-the-file"/)
  assert.match(output, /- RATE_LIMIT .*"from the file"/)
  assert.match(output, /- LOG_LEVEL .*"from-the-environment"/)
})

test('a database keeps its mode: the other mode refuses to start on it, and changes nothing', async (t) => {
  const database = await createDatabase()
  t.after(() => database.remove())
  const sandbox = await startTestService(t, { database })
  await sandbox.stop()
  const asked = { ...database.environment, PORT: '0', OPERATOR_PORT: '0', HOST: '127.0.0.1' }
  const result = parseConfig({ ...asked, OPERATOR_TOKEN: token })
  assert.ok(result.ok)
  await assert.rejects(
    startService({ ...result.config, mode: 'production' }, { log: pino({ level: 'silent' }) }).then((it) => it.stop()),
    /belongs to a sandbox installation, but MODE is production/,
  )
  const again = await startTestService(t, { database })
  assert.equal((await again.partner.get('/partner')).status, 200)
})

test('a production installation has no demo partner, and never becomes a sandbox', async (t) => {
  const database = await createDatabase()
  t.after(() => database.remove())
  const result = parseConfig({ ...database.environment, PORT: '0', OPERATOR_PORT: '0', OPERATOR_TOKEN: token })
  assert.ok(result.ok)
  const production = await startService({ ...result.config, mode: 'production' }, { log: pino({ level: 'silent' }) })
  const operator = createClient(production.operatorUrl, '/operator/v1', token)
  const { partners } = (await operator.get('/partners')).body
  await production.stop()
  assert.deepEqual([production.demo, partners], [undefined, []])
  await assert.rejects(startTestService(t, { database }), /belongs to a production installation, but MODE is sandbox/)
})
