// Console sessions of operators. One belongs to the token it was begun with: when that is revoked, or OPERATOR_TOKEN is another one,
// the session is worth nothing. Only hashes are stored, and nothing by which OPERATOR_TOKEN could be guessed.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { type Cache, type ChangeFeed, createCache, recordChange } from '../db/changes.ts'
import type { Db, Queryable, Tx } from '../db/db.ts'
import { type Actor, audit } from '../partners/audit.ts'
import { hashSessionToken, newToken } from '../partners/sessions.ts'
import type { Timestamp } from '../times.ts'
import { operatorsSubject } from './tokens.ts'

const sessionMs = 12 * 3_600_000

export interface OperatorSession {
  readonly tokenHash: string // in hex
  readonly expiresAt: Timestamp
  readonly proof: Uint8Array | null // of OPERATOR_TOKEN; null: of the named token below
  readonly id: string | null
  readonly name: string | null
  readonly roles: string[] | null
}

export type OperatorSessions = Cache<OperatorSession> // by the hash of the session's token, in hex

export function cacheOperatorSessions(db: Db, feed: ChangeFeed): OperatorSessions {
  return createCache(feed, async (tokenHash) => {
    const { rows } = await db.query<Omit<OperatorSession, 'tokenHash'>>(
      `select s.expires_at, s.proof, t.id, t.name, t.roles
       from operator_sessions s left join operator_tokens t on t.id = s.operator_token_id and t.revoked_at is null
       where s.token_hash = $1 and (t.id is not null or s.proof is not null)`,
      [Buffer.from(tokenHash, 'hex')],
    )
    return rows[0] && { subject: operatorsSubject, value: { ...rows[0], tokenHash } }
  })
}

// What the cookie and OPERATOR_TOKEN make together. The cookie is not stored: from the proof alone nothing can be found out.
export function proveBootstrap(cookieToken: string, operatorToken: string): Buffer {
  return createHmac('sha256', cookieToken).update(operatorToken).digest()
}

export function proofHolds(proof: Uint8Array, cookieToken: string, operatorToken: string): boolean {
  return timingSafeEqual(proof, proveBootstrap(cookieToken, operatorToken))
}

// `tokenId` is undefined for OPERATOR_TOKEN.
export async function beginOperatorSession(
  tx: Tx,
  actor: Actor,
  { tokenId, operatorToken, now }: { tokenId: string | undefined; operatorToken: string; now: Date },
): Promise<{ token: string; expiresAt: Date }> {
  const token = newToken()
  const expiresAt = new Date(now.getTime() + sessionMs)
  await tx.query(
    `insert into operator_sessions (token_hash, operator_token_id, proof, created_at, expires_at) values ($1, $2, $3, $4, $5)`,
    [
      Buffer.from(hashSessionToken(token), 'hex'),
      tokenId ?? null,
      tokenId === undefined ? proveBootstrap(token, operatorToken) : null,
      now.toISOString(),
      expiresAt.toISOString(),
    ],
  )
  await audit(tx, actor, { action: 'console.signed_in', targetId: actor.id })
  return { token, expiresAt }
}

export async function endOperatorSession(tx: Tx, actor: Actor, tokenHash: string): Promise<void> {
  await tx.query('delete from operator_sessions where token_hash = $1', [Buffer.from(tokenHash, 'hex')])
  await audit(tx, actor, { action: 'console.signed_out', targetId: actor.id })
  await recordChange(tx, operatorsSubject)
}

export async function deleteExpiredOperatorSessions(db: Queryable, now: Date): Promise<void> {
  await db.query('delete from operator_sessions where expires_at < $1', [now.toISOString()])
}
