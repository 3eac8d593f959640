// Configuration: the only reader of process.env. Every setting is described in settings.ts; all mistakes are reported at once; the
// value of a secret is never part of a message.
import { readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { type MasterKey, Mistake, type RateLimit } from './config-parsers.ts'
import { type Setting, settings } from './settings.ts'

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
  readonly orderConfirmationWindowMs: number
  readonly payoutRail: 'operator' | 'sandbox'
  readonly rateLimit: RateLimit | undefined
  readonly logLevel: string
}

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
  const config = {
    ...values,
    publicUrl: values.publicUrl ?? `http://localhost:${values.port}`,
    payoutRail: values.payoutRail || (values.mode === 'production' ? 'operator' : 'sandbox'),
  } as unknown as Config

  if (config.mode === 'production') {
    if (config.webhookTimeoutMs < 30_000) mistakes.push('WEBHOOK_TIMEOUT must be at least 30s in production mode')
    if (config.payoutRail === 'sandbox')
      mistakes.push('PAYOUT_RAIL must be operator in production mode: sandbox pays nobody')
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
