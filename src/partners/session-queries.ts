// The SQL of console sessions and sign-in links. Both are found by the hash of their token, which tells whose they are.
import type { Queryable, Tx } from '../db/db.ts'
import type { Timestamp } from '../times.ts'

export interface SessionRow {
  partnerId: string
  keyId: string
  expiresAt: Timestamp
}

interface NewRow {
  readonly partnerId: string
  readonly keyId: string
  readonly tokenHash: Buffer
  readonly now: Date
  readonly expiresAt: Date
}

export async function insertSession(tx: Tx, row: NewRow): Promise<void> {
  await tx.query(
    'insert into console_sessions (partner_id, key_id, token_hash, created_at, expires_at) values ($1, $2, $3, $4, $5)',
    [row.partnerId, row.keyId, row.tokenHash, row.now.toISOString(), row.expiresAt.toISOString()],
  )
}

export async function findSession(db: Queryable, tokenHash: Buffer): Promise<SessionRow | undefined> {
  const { rows } = await db.query<SessionRow>(
    'select partner_id, key_id, expires_at from console_sessions where token_hash = $1',
    [tokenHash],
  )
  return rows[0]
}

export async function deleteSession(tx: Tx, partnerId: string, tokenHash: Buffer): Promise<void> {
  await tx.query('delete from console_sessions where partner_id = $1 and token_hash = $2', [partnerId, tokenHash])
}

export async function insertLink(tx: Tx, row: NewRow & { readonly createdBy: string }): Promise<void> {
  await tx.query(
    `insert into console_links (partner_id, key_id, token_hash, created_at, expires_at, created_by)
     values ($1, $2, $3, $4, $5, $6)`,
    [row.partnerId, row.keyId, row.tokenHash, row.now.toISOString(), row.expiresAt.toISOString(), row.createdBy],
  )
}

export interface LinkRow {
  partnerId: string
  keyId: string
}

// Guarded by `used_at`: of any number at once one gets the row.
export async function redeemLink(tx: Tx, tokenHash: Buffer, now: Date): Promise<LinkRow | undefined> {
  const { rows } = await tx.query<LinkRow>(
    `update console_links set used_at = $2 where token_hash = $1 and used_at is null and expires_at > $2
     returning partner_id, key_id`,
    [tokenHash, now.toISOString()],
  )
  return rows[0]
}

export async function deleteExpiredSessions(db: Queryable, now: Date): Promise<void> {
  await db.query('delete from console_sessions where expires_at < $1', [now.toISOString()])
  await db.query('delete from console_links where expires_at < $1', [now.toISOString()])
}
