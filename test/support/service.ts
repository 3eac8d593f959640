// The real service for a test: in this process (fast, with a clock the test decides) or as a child process (to be killed).
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { parseConfig } from '../../src/config.ts'
import type { Resolve } from '../../src/delivery/sender.ts'
import { type Service, startService } from '../../src/service.ts'
import { type ApiClient, createClient } from './client.ts'
import { createDatabase, type TestDatabase } from './database.ts'
import { testAuthority } from './endpoint.ts'

type Environment = Record<string, string>
interface Stoppable {
  after(work: () => Promise<void> | void): void
}

export interface TestService extends Service {
  readonly database: TestDatabase
  readonly partner: ApiClient // with the demo partner's key
  readonly operator: ApiClient // with the bootstrap token
  readonly demoSecret: string
  readonly demoPartnerId: string
}

export interface TestOptions {
  readonly environment?: Environment
  readonly now?: () => Date
  readonly resolve?: Resolve
  readonly consoleFolder?: string // a built console; the project's own by default
  readonly database?: TestDatabase // share one between several services; whoever made it removes it
}

// `t` is a test, or `{ after }` of a suite.
export async function startTestService(t: Stoppable | TestContext, options: TestOptions = {}): Promise<TestService> {
  const database = options.database ?? (await createDatabase())
  const result = parseConfig({
    PORT: '0',
    OPERATOR_PORT: '0',
    HOST: '127.0.0.1',
    LOG_LEVEL: 'silent',
    RATE_LIMIT: 'off',
    WEBHOOK_CA_FILE: (await testAuthority()).file,
    ...database.environment,
    ...options.environment,
  })
  if (!result.ok) throw new Error(result.mistakes.join('\n'))
  const service = await startService(result.config, {
    log: pino({ level: result.config.logLevel }, pino.destination(2)),
    ...(options.now ? { now: options.now } : {}),
    ...(options.resolve ? { resolve: options.resolve } : {}),
    ...(options.consoleFolder ? { consoleFolder: options.consoleFolder } : {}),
  })
  t.after(async () => {
    await service.stop()
    if (!options.database) await database.remove()
  })
  return {
    ...service,
    database,
    demoSecret: service.demo?.secret ?? '',
    demoPartnerId: service.demo?.partnerId ?? '',
    partner: createClient(service.url, '/v1', service.demo?.secret),
    operator: createClient(service.operatorUrl, '/operator/v1', service.operatorToken),
  }
}

export interface ServiceProcess {
  readonly child: ChildProcess
  readonly url: string
  readonly operatorUrl: string
  readonly partner: ApiClient
  readonly operator: ApiClient
  readonly demoSecret: string
  readonly operatorToken: string
  readonly output: () => string // what it wrote to standard output
  readonly log: () => string // what it wrote to standard error
  kill(): Promise<void> // kill -9
  stop(): Promise<number | null> // SIGTERM; its exit code
}

// `npm start`, as a person would, but on any free port.
export async function spawnService(
  database: TestDatabase,
  environment: Environment = {},
  onSpawn?: (child: ChildProcess) => void, // for tests that kill it before it is ready
): Promise<ServiceProcess> {
  const child = spawn(process.execPath, ['src/main.ts', 'serve'], {
    env: {
      PATH: process.env.PATH ?? '',
      ...(process.env.NODE_COMPILE_CACHE ? { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE } : {}),
      PORT: '0',
      OPERATOR_PORT: '0',
      HOST: '127.0.0.1',
      RATE_LIMIT: 'off',
      WEBHOOK_CA_FILE: (await testAuthority()).file,
      ...database.environment,
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onSpawn?.(child)
  let output = ''
  let log = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk))
  child.stderr.on('data', (chunk: Buffer) => (log += chunk))
  const exited = once(child, 'exit')
  while (!log.includes('"msg":"ready"')) {
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error(`the service did not start:\n${output}\n${log}`)
    await sleep(20)
  }
  const ready = JSON.parse(log.split('\n').find((line) => line.includes('"msg":"ready"'))!) as {
    url: string
    operator_url: string
  }
  const demoSecret =
    environment.MODE === 'production' ? '' : readFileSync(join(database.dataDir, 'demo-key'), 'utf8').trim()
  const operatorToken =
    environment.OPERATOR_TOKEN ?? readFileSync(join(database.dataDir, 'operator-token'), 'utf8').trim()
  return {
    child,
    url: ready.url,
    operatorUrl: ready.operator_url,
    partner: createClient(ready.url, '/v1', demoSecret),
    operator: createClient(ready.operator_url, '/operator/v1', operatorToken),
    demoSecret,
    operatorToken,
    output: () => output,
    log: () => log,
    async kill() {
      child.kill('SIGKILL')
      await exited
    },
    async stop() {
      child.kill('SIGTERM')
      await exited
      return child.exitCode
    },
  }
}
