// Signing keys: made at the first start, encrypted at rest, rotated so that a receiver who caches the JWKS never meets an
// unknown key: a new one is published long before it signs, an old one until nothing signed by it can be under way.
import { createPrivateKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import type { MasterKey } from '../config-parsers.ts'
import { recordChange } from '../db/changes.ts'
import type { Queryable, Tx } from '../db/db.ts'
import { newId } from '../ids.ts'
import { type Actor, actorLabel, audit } from '../partners/audit.ts'
import type { Timestamp } from '../times.ts'
import { seal, unseal } from './sealing.ts'

export const signingSubject = 'signing-keys'
export const jwksMaxAgeSeconds = 300
const publishedBeforeMs = Math.max(24 * 3_600_000, 2 * jwksMaxAgeSeconds * 1_000)
const publishedAfterMs = 24 * 3_600_000

export type SigningAlgorithm = 'ES256' | 'EdDSA' | 'RS512'

export interface SigningKeyRow {
  id: string
  algorithm: SigningAlgorithm
  publicJwk: Record<string, unknown>
  privateKey: Uint8Array
  masterKeyVersion: number
  signsFrom: Timestamp
  publishedUntil: Timestamp | null
  createdAt: Timestamp
  createdBy: string
}

export interface SigningKey extends SigningKeyRow {
  readonly key: KeyObject
  readonly signsFromMs: number
}

// Those still published, the one that signs last first.
export async function listSigningKeys(db: Queryable): Promise<SigningKeyRow[]> {
  const { rows } = await db.query<SigningKeyRow>(
    'select * from signing_keys where published_until is null or published_until > now() order by signs_from desc, id desc',
  )
  return rows
}

export function openSigningKey(masterKeys: readonly MasterKey[], row: SigningKeyRow): SigningKey {
  const der = unseal(masterKeys, row.masterKeyVersion, row.id, row.privateKey)
  return {
    ...row,
    key: createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }),
    signsFromMs: Date.parse(row.signsFrom),
  }
}

interface Rotation {
  readonly algorithm: SigningAlgorithm
  readonly masterKey: MasterKey
  readonly now: boolean // for a compromise: the new key signs at once and the old one is no longer published
}

export async function rotateSigningKey(
  tx: Tx,
  actor: Actor,
  { algorithm, masterKey, now }: Rotation,
): Promise<SigningKeyRow> {
  await lockRotation(tx)
  const id = newId('sig')
  const { publicJwk, privateDer } = generate(algorithm)
  const startsInMs = now ? 0 : publishedBeforeMs
  const { rows } = await tx.query<SigningKeyRow>(
    `insert into signing_keys (id, algorithm, public_jwk, private_key, master_key_version, signs_from, created_by)
     values ($1, $2, $3, $4, $5, now() + $6 * interval '1 millisecond', $7) returning *`,
    [
      id,
      algorithm,
      JSON.stringify({ ...publicJwk, kid: id, alg: algorithm, use: 'sig' }),
      seal(masterKey, id, privateDer),
      masterKey.version,
      startsInMs,
      actorLabel(actor),
    ],
  )
  await tx.query(
    `update signing_keys set published_until = now() + $2 * interval '1 millisecond' where id <> $1 and (published_until is null or $3)`,
    [id, now ? 0 : startsInMs + publishedAfterMs, now],
  )
  await audit(tx, actor, { action: 'signing_key.rotated', targetId: id, details: { algorithm, now } })
  await recordChange(tx, signingSubject)
  return rows[0]!
}

const service: Actor = { kind: 'system', id: 'service', name: 'service', requestId: null }

// At the first start, and when the newest key is older than the schedule allows. Safe on several processes at once.
export async function ensureSigningKey(
  tx: Tx,
  algorithm: SigningAlgorithm,
  masterKey: MasterKey,
  rotateAfterMs: number,
): Promise<void> {
  await lockRotation(tx)
  const { rows } = await tx.query<{ tooOld: boolean }>(
    `select signs_from < now() - $1 * interval '1 millisecond' as too_old from signing_keys
     where published_until is null order by signs_from desc limit 1`,
    [rotateAfterMs],
  )
  if (!rows[0]) await rotateSigningKey(tx, service, { algorithm, masterKey, now: true })
  else if (rows[0].tooOld) await rotateSigningKey(tx, service, { algorithm, masterKey, now: false })
}

// Encrypts every private key with the current master key; how many were not yet.
export async function reencryptSigningKeys(tx: Tx, actor: Actor, masterKeys: readonly MasterKey[]): Promise<number> {
  const current = masterKeys[0]!
  const { rows } = await tx.query<SigningKeyRow>(
    'select * from signing_keys where master_key_version <> $1 for update',
    [current.version],
  )
  for (const row of rows) {
    const secret = unseal(masterKeys, row.masterKeyVersion, row.id, row.privateKey)
    await tx.query('update signing_keys set private_key = $2, master_key_version = $3 where id = $1', [
      row.id,
      seal(current, row.id, secret),
      current.version,
    ])
  }
  await audit(tx, actor, {
    action: 'signing_keys.reencrypted',
    details: { count: rows.length, version: current.version },
  })
  return rows.length
}

async function lockRotation(tx: Tx): Promise<void> {
  await tx.query('select pg_advisory_xact_lock(7020260002)')
}

function generate(algorithm: SigningAlgorithm): { publicJwk: Record<string, unknown>; privateDer: Buffer } {
  const { publicKey, privateKey } =
    algorithm === 'ES256'
      ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
      : algorithm === 'EdDSA'
        ? generateKeyPairSync('ed25519')
        : generateKeyPairSync('rsa', { modulusLength: 2048 })
  return {
    publicJwk: { ...publicKey.export({ format: 'jwk' }) },
    privateDer: privateKey.export({ type: 'pkcs8', format: 'der' }),
  }
}
