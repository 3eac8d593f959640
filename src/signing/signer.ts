// The X-JWT-SIGNATURE of an attempt, fresh for every one. Assembled by hand around node:crypto, because a general JWT library
// costs as much again as the signature; tests verify it with one.
import { hash, type KeyObject, sign } from 'node:crypto'
import type { MasterKey } from '../config-parsers.ts'
import type { Context } from '../context.ts'
import type { ChangeFeed } from '../db/changes.ts'
import { randomText } from '../ids.ts'
import {
  ensureSigningKey,
  jwksMaxAgeSeconds,
  listSigningKeys,
  openSigningKey,
  type SigningAlgorithm,
  type SigningKey,
  signingSubject,
} from './keys.ts'

const validForSeconds = 300
const checkEveryMs = 60_000

export interface Signer {
  sign(eventId: string, subscriptionId: string, body: Uint8Array): string
  jwks(): { readonly body: Buffer; readonly maxAgeSeconds: number }
  stop(): Promise<void>
}

export async function startSigner(ctx: Context, feed: ChangeFeed, masterKeys: readonly MasterKey[]): Promise<Signer> {
  const issuer = `partner-service/${ctx.config.mode}`
  const { signingAlgorithm, signingKeyRotationMs } = ctx.config
  let keys: SigningKey[] = []
  let jwks = Buffer.alloc(0)

  const read = async () => {
    const rows = await listSigningKeys(ctx.db)
    keys = rows.map(
      (row) =>
        keys.find((key) => key.id === row.id && key.masterKeyVersion === row.masterKeyVersion) ??
        openSigningKey(masterKeys, row),
    )
    jwks = Buffer.from(JSON.stringify({ keys: rows.map((row) => row.publicJwk) }))
  }
  // One after the other, so that the last to end has read last.
  let loading: Promise<void> = Promise.resolve()
  const load = () => {
    loading = loading.catch(() => {}).then(read)
    return loading
  }
  // By schedule, and because a key's time to sign or to go comes without anyone changing anything.
  const check = async () => {
    await ctx.db.transaction((tx) => ensureSigningKey(tx, signingAlgorithm, masterKeys[0]!, signingKeyRotationMs))
    await load()
  }
  const warn = (error: Error) => ctx.log.warn({ error: error.message }, 'could not read the signing keys')
  await check()
  feed.onChange((subject) => {
    if (subject === undefined || subject === signingSubject) load().catch(warn)
  })
  const timer = setInterval(() => void check().catch(warn), checkEveryMs)
  timer.unref()

  return {
    sign(eventId, subscriptionId, body) {
      const nowMs = ctx.now().getTime()
      const key = keys.find((each) => each.signsFromMs <= nowMs) ?? keys.at(-1)!
      const iat = Math.floor(nowMs / 1_000)
      const digest = hash('sha256', body, 'hex')
      const claims = `{"iss":"${issuer}","iat":${iat},"exp":${iat + validForSeconds},"jti":"${randomText(26)}","sub":"${eventId}","aud":"${subscriptionId}","digest":"${digest}"}`
      const input = `${headerOf(key)}.${Buffer.from(claims).toString('base64url')}`
      return `${input}.${signature(key.algorithm, key.key, input)}`
    },
    jwks: () => ({ body: jwks, maxAgeSeconds: jwksMaxAgeSeconds }),
    async stop() {
      clearInterval(timer)
      await loading.catch(() => {})
    },
  }
}

const headers = new Map<string, string>()
function headerOf({ id, algorithm }: SigningKey): string {
  let header = headers.get(id)
  if (header === undefined) {
    header = Buffer.from(JSON.stringify({ alg: algorithm, kid: id, typ: 'JWT' })).toString('base64url')
    headers.set(id, header)
  }
  return header
}

function signature(algorithm: SigningAlgorithm, key: KeyObject, input: string): string {
  const bytes = Buffer.from(input)
  if (algorithm === 'ES256') return sign('sha256', bytes, { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')
  return sign(algorithm === 'EdDSA' ? null : 'sha512', bytes, key).toString('base64url')
}
