// Every setting with its name, default and meaning, in one list: the configuration is read by it, and the docs are generated from it.
import {
  cidrList,
  duration,
  durations,
  list,
  oneOf,
  optionalMasterKey,
  optionalPostgresUrl,
  optionalSecret,
  optionalText,
  optionalUrl,
  port,
  rateLimit,
  text,
  wholeNumber,
} from './config-parsers.ts'

export interface Setting<T> {
  readonly name: string
  readonly default: string // '' means: not set
  readonly meaning: string
  readonly secret?: boolean
  readonly parse: (text: string) => T // throws Mistake
}

const setting = <T>(definition: Setting<T>): Setting<T> => definition

export const settings = {
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
      '`api` answers requests, `worker` delivers webhooks and moves orders along (its listeners serve only probes and metrics), `all` does both. Any number of either may share one PostgreSQL.',
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
      'HTTPS address of the operator that is told, by a signed webhook, when an endpoint fails, is disabled or recovers, and when a payout is overdue.',
    secret: true,
    parse: optionalUrl,
  }),
  retentionMs: setting({
    name: 'RETENTION',
    default: '60d',
    meaning: 'How long finished events, their attempts and publishers’ ids are kept. Pending events are never dropped.',
    parse: duration('1h', '3650d'),
  }),
  orderConfirmationWindowMs: setting({
    name: 'ORDER_CONFIRMATION_WINDOW',
    default: '15m',
    meaning: 'How long an order can be confirmed after it was created; then it is cancelled.',
    parse: duration('1s', '30d'),
  }),
  payoutRail: setting({
    name: 'PAYOUT_RAIL',
    default: '',
    meaning:
      'Who pays confirmed orders: `operator` (the platform takes, completes or fails them through the operator API) or `sandbox` (settles by itself and pays nobody; not in production mode). Default: `sandbox` in sandbox mode, `operator` in production mode.',
    parse: oneOf('', 'operator', 'sandbox'),
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
