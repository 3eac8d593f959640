// All SQL about partners, their configurations and their API keys, one function a statement. Every one names its partner, except
// the look-ups by which a credential finds out who its partner is.
import type { Queryable, Tx } from '../db/db.ts'
import type { Page } from '../http/paging.ts'
import type { Timestamp } from '../times.ts'
import type { PartnerConfiguration } from './schema.ts'

export interface PartnerRow {
  id: string
  state: 'active' | 'suspended'
  configurationVersion: number
  createdAt: Timestamp
  name: string
}

const partnerColumns = `p.id, p.state, p.configuration_version, p.created_at, c.document->>'name' as name`
const partnerTables = `partners p join partner_configurations c on c.partner_id = p.id and c.version = p.configuration_version`

// A partner of the service's own has no configuration: no API shows or changes it, and nobody publishes to it.
export const isPublic = 'configuration_version > 0'

export async function insertPartner(tx: Tx, id: string): Promise<void> {
  await tx.query('insert into partners (id, configuration_version) values ($1, 0)', [id])
}

export async function findPartner(db: Queryable, id: string): Promise<PartnerRow | undefined> {
  const { rows } = await db.query<PartnerRow>(`select ${partnerColumns} from ${partnerTables} where p.id = $1`, [id])
  return rows[0]
}

export async function listPartners(db: Queryable, page: Page): Promise<PartnerRow[]> {
  const { rows } = await db.query<PartnerRow>(
    `select ${partnerColumns} from ${partnerTables} where ($1::text is null or p.id < $1) order by p.id desc limit $2`,
    [page.before, page.limit + 1],
  )
  return rows
}

// Null when there is no such partner; false when it was in that state already.
export async function updatePartnerState(tx: Tx, id: string, state: PartnerRow['state']): Promise<boolean | null> {
  const { rows } = await tx.query<{ state: string }>(
    `select state from partners where id = $1 and ${isPublic} for update`,
    [id],
  )
  if (!rows[0]) return null
  const { count } = await tx.query('update partners set state = $2 where id = $1 and state <> $2', [id, state])
  return count === 1
}

// The row lock makes concurrent writers take their version numbers one after the other.
export async function lockConfigurationVersion(tx: Tx, partnerId: string): Promise<number | undefined> {
  const { rows } = await tx.query<{ configurationVersion: number }>(
    `select configuration_version from partners where id = $1 and ${isPublic} for update`,
    [partnerId],
  )
  return rows[0]?.configurationVersion
}

export async function insertConfiguration(
  tx: Tx,
  partnerId: string,
  version: number,
  document: PartnerConfiguration,
  createdBy: string,
): Promise<void> {
  await tx.query(
    'insert into partner_configurations (partner_id, version, document, created_by) values ($1, $2, $3, $4)',
    [partnerId, version, JSON.stringify(document), createdBy],
  )
  await tx.query('update partners set configuration_version = $2 where id = $1', [partnerId, version])
}

export interface ConfigurationRow {
  version: number
  document: PartnerConfiguration
  createdAt: Timestamp
  createdBy: string
}

export async function findConfiguration(db: Queryable, partnerId: string): Promise<ConfigurationRow | undefined> {
  const { rows } = await db.query<ConfigurationRow>(
    `select c.version, c.document, c.created_at, c.created_by from ${partnerTables} where p.id = $1`,
    [partnerId],
  )
  return rows[0]
}

export async function listConfigurations(db: Queryable, partnerId: string, page: Page): Promise<ConfigurationRow[]> {
  const { rows } = await db.query<ConfigurationRow>(
    `select version, document, created_at, created_by from partner_configurations
     where partner_id = $1 and ($2::int is null or version < $2) order by version desc limit $3`,
    [partnerId, page.before === null ? null : Number(page.before), page.limit + 1],
  )
  return rows
}

export interface KeyRow {
  partnerId: string
  id: string
  name: string
  scopes: string[]
  prefix: string | null
  secretHash: Uint8Array | null
  algorithm: string | null
  publicKey: string | null
  requiredClaims: string[]
  allowedCidrs: string[]
  expiresAt: Timestamp | null
  lastUsedAt: Timestamp | null
  revokedAt: Timestamp | null
  createdAt: Timestamp
  createdBy: string
}

export type NewKeyRow = Omit<KeyRow, 'lastUsedAt' | 'revokedAt' | 'createdAt'>

export async function insertKey(tx: Tx, key: NewKeyRow): Promise<KeyRow> {
  const { rows } = await tx.query<KeyRow>(
    `insert into api_keys (partner_id, id, name, scopes, prefix, secret_hash, algorithm, public_key, required_claims,
       allowed_cidrs, expires_at, created_by)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) returning *`,
    [
      key.partnerId,
      key.id,
      key.name,
      key.scopes,
      key.prefix,
      key.secretHash,
      key.algorithm,
      key.publicKey,
      key.requiredClaims,
      key.allowedCidrs,
      key.expiresAt,
      key.createdBy,
    ],
  )
  return rows[0]!
}

export async function listKeys(db: Queryable, partnerId: string, page: Page): Promise<KeyRow[]> {
  const { rows } = await db.query<KeyRow>(
    'select * from api_keys where partner_id = $1 and ($2::text is null or id < $2) order by id desc limit $3',
    [partnerId, page.before, page.limit + 1],
  )
  return rows
}

// Null when the partner has no such key; revoking twice keeps the first time.
export async function revokeKey(tx: Tx, partnerId: string, id: string): Promise<KeyRow | null> {
  const { rows } = await tx.query<KeyRow>(
    'update api_keys set revoked_at = coalesce(revoked_at, now()) where partner_id = $1 and id = $2 returning *',
    [partnerId, id],
  )
  return rows[0] ?? null
}

export interface CredentialRow extends KeyRow {
  partnerState: PartnerRow['state']
}

// `handle` is the prefix of a secret key or the id of a signed-token key: both are unique.
export async function findCredential(db: Queryable, handle: string): Promise<CredentialRow | undefined> {
  const column = handle.startsWith('key_') ? 'id' : 'prefix'
  const { rows } = await db.query<CredentialRow>(
    `select k.*, p.state as partner_state from api_keys k join partners p on p.id = k.partner_id where k.${column} = $1`,
    [handle],
  )
  return rows[0]
}

// False when the token was used before.
export async function insertUsedToken(
  db: Queryable,
  partnerId: string,
  keyId: string,
  jti: string,
  expiresAt: Date,
): Promise<boolean> {
  const { count } = await db.query(
    `insert into used_tokens (partner_id, key_id, jti, expires_at) values ($1, $2, $3, $4)
     on conflict (partner_id, key_id, jti) do nothing`,
    [partnerId, keyId, jti, expiresAt.toISOString()],
  )
  return count === 1
}

export async function deleteExpiredTokens(db: Queryable): Promise<void> {
  await db.query('delete from used_tokens where expires_at < now()')
}

export async function updateLastUsed(db: Queryable, used: ReadonlyMap<string, Date>): Promise<void> {
  await db.query(
    `update api_keys set last_used_at = greatest(last_used_at, used.at)
     from unnest($1::text[], $2::timestamptz[]) as used (id, at) where api_keys.id = used.id`,
    [[...used.keys()], [...used.values()].map((at) => at.toISOString())],
  )
}

export async function findKey(db: Queryable, partnerId: string, id: string): Promise<KeyRow | undefined> {
  const { rows } = await db.query<KeyRow>('select * from api_keys where partner_id = $1 and id = $2', [partnerId, id])
  return rows[0]
}
