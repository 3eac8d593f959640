// Configuration: the only reader of process.env. One list says every setting's name, default and meaning (the docs are
// generated from it); all mistakes are reported at once; the value of a secret is never part of a message.
import { readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import {
  cidrList,
  duration,
  durations,
  list,
  type MasterKey,
  Mistake,
  oneOf,
  optionalMasterKey,
  optionalPostgresUrl,
  optionalSecret,
  optionalText,
  optionalUrl,
  port,
  type RateLimit,
  rateLimit,
  text,
  wholeNumber,
} from './config-parsers.ts'

export interface Config {
  readonly mode: 'sandbox' | 'production'
  readonly role: 'all' | 'api' | 'worker'
  readonly host: string
  readonly port: number
  readonly operatorHost: string
  readonly operatorPort: number
  readonly operatorAllowedHosts: readonly string[]
  readonly publicUrl: string
  readonly trustedProxies: readonly string[]
  readonly databaseUrl: string | undefined
  readonly databaseDirectUrl: string | undefined
  readonly databasePoolSize: number
  readonly dataDir: string
  readonly operatorToken: string | undefined // undefined only in sandbox mode, which then makes its own
  readonly masterKey: readonly MasterKey[] | undefined // the first encrypts, all decrypt; undefined as above
  readonly signingAlgorithm: 'ES256' | 'EdDSA' | 'RS512'
  readonly signingKeyRotationMs: number
  readonly webhookRetryScheduleMs: readonly number[]
  readonly webhookTimeoutMs: number
  readonly webhookAllowedNetworks: readonly string[]
  readonly webhookCaFile: string | undefined
  readonly webhookProxy: string | undefined
  readonly operationsWebhookUrl: string | undefined
  readonly retentionMs: number
  readonly rateLimit: RateLimit | undefined
  readonly logLevel: string
}

interface Setting<T> {
  readonly name: string
  readonly default: string // '' means: not set
  readonly meaning: string
  readonly secret?: boolean
  readonly parse: (text: string) => T // throws Mistake
}

const setting = <T>(definition: Setting<T>): Setting<T> => definition

const settings = {
  mode: setting({
    name: 'MODE',
    default: 'sandbox',
    meaning:
      '`sandbox` (a demo partner, sandbox routes, secrets made by itself) or `production` (refuses to start without its secrets or on the embedded database). Written into the database at the first start; a database never changes its mode.',
    parse: oneOf('sandbox', 'production'),
  }),
  role: setting({
    name: 'ROLE',
    default: 'all',
    meaning:
      '`api` answers requests, `worker` delivers webhooks (its listeners serve only probes and metrics), `all` does both. Any number of either may share one PostgreSQL.',
    parse: oneOf('all', 'api', 'worker'),
  }),
  port: setting({
    name: 'PORT',
    default: '8080',
    meaning: 'Port of the partner listener. `0` takes any free port.',
    parse: port,
  }),
  host: setting({ name: 'HOST', default: '0.0.0.0', meaning: 'Address the partner listener binds to.', parse: text }),
  operatorPort: setting({
    name: 'OPERATOR_PORT',
    default: '8081',
    meaning: 'Port of the operator listener. `0` takes any free port.',
    parse: port,
  }),
  operatorHost: setting({
    name: 'OPERATOR_HOST',
    default: '127.0.0.1',
    meaning: 'Address the operator listener binds to. Keep it on loopback or a private network.',
    parse: text,
  }),
  operatorAllowedHosts: setting({
    name: 'OPERATOR_ALLOWED_HOSTS',
    default: '',
    meaning:
      'Host names, separated by commas, under which the operator listener may be called besides `localhost` and its own address. Other `Host` headers are refused (DNS rebinding).',
    parse: list,
  }),
  publicUrl: setting({
    name: 'PUBLIC_URL',
    default: '',
    meaning: 'Address under which partners reach the service, without `/v1`. Default: `http://localhost:PORT`.',
    parse: optionalUrl,
  }),
  trustedProxies: setting({
    name: 'TRUSTED_PROXIES',
    default: '',
    meaning:
      'CIDRs, separated by commas, of the proxies whose `X-Forwarded-For` is believed when a client address is checked or logged.',
    parse: cidrList,
  }),
  databaseUrl: setting({
    name: 'DATABASE_URL',
    default: '',
    meaning: 'PostgreSQL 15 or later, as `postgres://…`. Not set: the embedded database in `DATA_DIR`.',
    secret: true,
    parse: optionalPostgresUrl,
  }),
  databaseDirectUrl: setting({
    name: 'DATABASE_DIRECT_URL',
    default: '',
    meaning:
      'The same PostgreSQL past a connection pooler, used to listen for wake-ups. Default: `DATABASE_URL`. Without one, polling does the work.',
    secret: true,
    parse: optionalPostgresUrl,
  }),
  databasePoolSize: setting({
    name: 'DATABASE_POOL_SIZE',
    default: '10',
    meaning: 'Most PostgreSQL connections that one process opens.',
    parse: wholeNumber(2, 1_000),
  }),
  dataDir: setting({
    name: 'DATA_DIR',
    default: './data',
    meaning: 'Folder of the embedded database and of the secrets that sandbox mode makes for itself.',
    parse: text,
  }),
  operatorToken: setting({
    name: 'OPERATOR_TOKEN',
    default: '',
    meaning:
      'The first operator credential, role `admin`, at least 24 characters: use it to create named tokens. Sandbox mode makes one and keeps it in `DATA_DIR/operator-token`.',
    secret: true,
    parse: optionalSecret(24),
  }),
  masterKey: setting({
    name: 'MASTER_KEY',
    default: '',
    meaning:
      'Encrypts the private signing keys in the database: `VERSION:KEY`, the key being 32 bytes in base64 (make one with `openssl rand -base64 32`). While changing it give both, the new one first: `2:…,1:…`. Sandbox mode makes one and keeps it in `DATA_DIR/master-key`.',
    secret: true,
    parse: optionalMasterKey,
  }),
  signingAlgorithm: setting({
    name: 'SIGNING_ALGORITHM',
    default: 'ES256',
    meaning: 'Algorithm of new signing keys: `ES256`, `EdDSA` or `RS512`.',
    parse: oneOf('ES256', 'EdDSA', 'RS512'),
  }),
  signingKeyRotationMs: setting({
    name: 'SIGNING_KEY_ROTATION',
    default: '90d',
    meaning: 'Age at which a signing key is replaced by itself.',
    parse: duration('1d', '3650d'),
  }),
  webhookRetryScheduleMs: setting({
    name: 'WEBHOOK_RETRY_SCHEDULE',
    default: '5s,30s,2m,5m,15m,30m,1h,2h,4h,8h,12h,24h,24h',
    meaning: 'Pauses before each retry of a failed delivery, each ±20 %; after the last the event is in `error`.',
    parse: durations,
  }),
  webhookTimeoutMs: setting({
    name: 'WEBHOOK_TIMEOUT',
    default: '30s',
    meaning:
      'Time an endpoint has to answer with a status, connecting included. Production mode allows no less than 30s.',
    parse: duration('100ms', '120s'),
  }),
  webhookAllowedNetworks: setting({
    name: 'WEBHOOK_ALLOWED_NETWORKS',
    default: '',
    meaning:
      'CIDRs, separated by commas, of private networks that webhooks may be sent to. Sandbox mode also allows loopback. All other non-public addresses are refused.',
    parse: cidrList,
  }),
  webhookCaFile: setting({
    name: 'WEBHOOK_CA_FILE',
    default: '',
    meaning: 'PEM file of a certificate authority trusted for webhook endpoints, besides the usual ones.',
    parse: optionalText,
  }),
  webhookProxy: setting({
    name: 'WEBHOOK_PROXY',
    default: '',
    meaning: 'HTTP proxy (`http://…`) through which webhooks are sent (CONNECT).',
    secret: true,
    parse: optionalUrl,
  }),
  operationsWebhookUrl: setting({
    name: 'OPERATIONS_WEBHOOK_URL',
    default: '',
    meaning:
      'HTTPS address of the operator that is told, by a signed webhook, when an endpoint fails, is disabled or recovers.',
    secret: true,
    parse: optionalUrl,
  }),
  retentionMs: setting({
    name: 'RETENTION',
    default: '60d',
    meaning: 'How long finished events, their attempts and publishers’ ids are kept. Pending events are never dropped.',
    parse: duration('1h', '3650d'),
  }),
  rateLimit: setting({
    name: 'RATE_LIMIT',
    default: '100:500',
    meaning: 'Requests a second and burst for each API key, `RATE:BURST`, counted by each process; `off` for no limit.',
    parse: rateLimit,
  }),
  logLevel: setting({
    name: 'LOG_LEVEL',
    default: 'info',
    meaning: '`trace`, `debug`, `info`, `warn`, `error`, `fatal` or `silent`. Logs are JSON lines on standard error.',
    parse: oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'),
  }),
} as const

export type ConfigResult = { ok: true; config: Config } | { ok: false; mistakes: string[] }
type Environment = Record<string, string | undefined>

// The process's environment, with `.env` in the working folder behind it.
export function readEnvironment(): Environment {
  let file: Environment = {}
  try {
    file = parseEnv(readFileSync('.env', 'utf8'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  return { ...file, ...process.env }
}

export function parseConfig(environment: Environment): ConfigResult {
  const mistakes: string[] = []
  const read = <T>({ name, default: fallback, parse, secret }: Setting<T>): T => {
    const given = environment[name]?.trim() || fallback
    try {
      return parse(given)
    } catch (error) {
      if (!(error instanceof Mistake)) throw error
      mistakes.push(`${name} ${error.message}${secret ? '' : ` (it is ${JSON.stringify(given)})`}`)
      return parse(fallback)
    }
  }
  const values = Object.fromEntries(
    Object.entries(settings).map(([key, each]) => [key, read(each as Setting<unknown>)]),
  )
  const config = { ...values, publicUrl: values.publicUrl ?? `http://localhost:${values.port}` } as unknown as Config

  if (config.mode === 'production') {
    if (config.webhookTimeoutMs < 30_000) mistakes.push('WEBHOOK_TIMEOUT must be at least 30s in production mode')
    if (!config.masterKey && !mistakes.some((each) => each.startsWith('MASTER_KEY'))) {
      mistakes.push('MASTER_KEY must be set in production mode; make one with: echo "1:$(openssl rand -base64 32)"')
    }
    if (!config.databaseUrl && !mistakes.some((each) => each.startsWith('DATABASE_URL'))) {
      mistakes.push('DATABASE_URL must be set in production mode: the embedded database is for sandboxes only')
    }
    if (!config.operatorToken && !mistakes.some((each) => each.startsWith('OPERATOR_TOKEN'))) {
      mistakes.push('OPERATOR_TOKEN must be set in production mode; make one with: openssl rand -hex 32')
    }
  }
  return mistakes.length > 0 ? { ok: false, mistakes } : { ok: true, config }
}

// docs/configuration.md and `--help` are made from this.
export function describeSettings(): { name: string; default: string; meaning: string; secret: boolean }[] {
  return Object.values(settings).map(({ name, default: fallback, meaning, ...rest }) => ({
    name,
    default: fallback,
    meaning,
    secret: 'secret' in rest && rest.secret === true,
  }))
}
