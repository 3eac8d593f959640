// API keys: made, listed and revoked. A secret is shown once and stored as a hash; of a signed-token key only the public half
// is known here. Rotation is a second key beside the first, then revoking the first.
import { createPublicKey, hash, type KeyObject } from 'node:crypto'
import { BlockList } from 'node:net'
import { addCidr, cidrWithin } from '../addresses.ts'
import { recordChange } from '../db/changes.ts'
import type { Tx } from '../db/db.ts'
import { fail } from '../errors.ts'
import { newId, randomText } from '../ids.ts'
import { utcSeconds, utcSecondsOrNull } from '../times.ts'
import { type Actor, actorLabel, audit } from './audit.ts'
import { insertKey, type KeyRow, revokeKey } from './queries.ts'
import type { ApiKey, NewApiKey } from './schema.ts'

// psk_<12 public characters>_<32 secret ones, 160 bits>
const secretForm = /^(psk_[0-9a-z]{12})_([0-9a-z]{32})$/

export function newSecret(): string {
  return `psk_${randomText(12)}_${randomText(32)}`
}

export function prefixOf(secret: string): string | undefined {
  return secretForm.exec(secret)?.[1]
}

export function hashSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer')
}

export interface KeyLimits {
  readonly scopes: readonly string[] // a key cannot make another that may do more
  readonly allowedCidrs: readonly string[] // nor one that may be used from elsewhere
}

export async function createKey(
  tx: Tx,
  actor: Actor,
  partnerId: string,
  wanted: NewApiKey,
  options: { secret?: string; limits?: KeyLimits; now: Date },
): Promise<{ row: KeyRow; secret?: string }> {
  const allowedCidrs = checkCidrs(wanted.allowed_cidrs ?? [], options.limits?.allowedCidrs ?? [])
  checkScopes(wanted.scopes, options.limits?.scopes)
  if (wanted.expires_at && new Date(wanted.expires_at) <= options.now)
    throw fail('invalid_parameters', 'expires_at must be in the future.')
  const common = {
    partnerId,
    id: newId('key'),
    name: wanted.name,
    scopes: wanted.scopes,
    allowedCidrs,
    expiresAt: wanted.expires_at ? new Date(wanted.expires_at).toISOString() : null, // the database takes fewer offsets
    createdBy: actorLabel(actor),
  }
  const signed = signedTokenParts(wanted)
  const secret = signed ? undefined : (options.secret ?? newSecret())
  const row = await insertKey(tx, {
    ...common,
    prefix: secret === undefined ? null : prefixOf(secret)!,
    secretHash: secret === undefined ? null : hashSecret(secret),
    algorithm: signed?.algorithm ?? null,
    publicKey: signed?.publicKey ?? null,
    requiredClaims: wanted.required_claims ?? [],
  })
  await audit(tx, actor, {
    action: 'key.created',
    partnerId,
    targetId: row.id,
    details: { name: row.name, scopes: row.scopes, allowed_cidrs: row.allowedCidrs, expires_at: row.expiresAt },
  })
  await recordChange(tx, partnerId)
  return secret === undefined ? { row } : { row, secret }
}

export async function removeKey(tx: Tx, actor: Actor, partnerId: string, keyId: string): Promise<void> {
  const row = await revokeKey(tx, partnerId, keyId)
  if (!row) throw fail('not_found', 'There is no such API key.')
  await audit(tx, actor, { action: 'key.revoked', partnerId, targetId: keyId, details: { name: row.name } })
  await recordChange(tx, partnerId)
}

export function keyView(row: KeyRow): ApiKey {
  return {
    id: row.id,
    name: row.name,
    kind: row.prefix === null ? 'signed_token' : 'secret',
    prefix: row.prefix,
    algorithm: row.algorithm as ApiKey['algorithm'],
    scopes: row.scopes as ApiKey['scopes'],
    required_claims: row.requiredClaims,
    allowed_cidrs: row.allowedCidrs,
    expires_at: utcSecondsOrNull(row.expiresAt),
    last_used_at: utcSecondsOrNull(row.lastUsedAt),
    revoked_at: utcSecondsOrNull(row.revokedAt),
    created_at: utcSeconds(row.createdAt),
    created_by: row.createdBy,
  }
}

function signedTokenParts({ algorithm, public_key: pem, required_claims: claims }: NewApiKey) {
  if (pem === undefined && algorithm === undefined) {
    if (claims?.length)
      throw fail('invalid_parameters', 'required_claims applies only to keys for signed tokens; give public_key.')
    return undefined
  }
  if (pem === undefined) throw fail('invalid_parameters', 'public_key is required with algorithm.')
  if (algorithm === undefined) throw fail('invalid_parameters', 'algorithm is required with public_key.')
  if (/PRIVATE KEY/.test(pem))
    throw fail('invalid_parameters', 'public_key holds a private key; keep that one to yourself.')
  let key: KeyObject
  try {
    key = createPublicKey(pem)
  } catch {
    throw fail('invalid_parameters', 'public_key must be a public key, SPKI in PEM.')
  }
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key
  const fits = {
    RS256: type === 'rsa' && (details?.modulusLength ?? 0) >= 2048,
    RS512: type === 'rsa' && (details?.modulusLength ?? 0) >= 2048,
    ES256: type === 'ec' && details?.namedCurve === 'prime256v1',
    EdDSA: type === 'ed25519',
  }[algorithm]
  if (!fits)
    throw fail(
      'invalid_parameters',
      `public_key is not one for ${algorithm} (RSA of at least 2048 bits, P-256, Ed25519).`,
    )
  return { algorithm, publicKey: key.export({ type: 'spki', format: 'pem' }).toString() }
}

function checkScopes(wanted: readonly string[], own: readonly string[] | undefined): void {
  const excess = own && wanted.find((scope) => !own.includes(scope))
  if (excess) throw fail('forbidden', `scopes has ${excess}, which the calling key does not have itself.`)
}

function checkCidrs(wanted: readonly string[], own: readonly string[]): readonly string[] & string[] {
  for (const [i, cidr] of wanted.entries()) {
    if (!addCidr(new BlockList(), cidr))
      throw fail('invalid_parameters', `allowed_cidrs[${i}] is not an address or CIDR.`)
    if (own.length > 0 && !cidrWithin(cidr, own)) {
      throw fail('forbidden', `allowed_cidrs[${i}] reaches beyond the calling key's own list.`)
    }
  }
  return wanted.length > 0 ? [...wanted] : [...own]
}
