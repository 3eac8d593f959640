// Named operator tokens: hashed, revocable, with roles, so that the audit log knows who. OPERATOR_TOKEN is the first of them
// and lives in the environment only.
import { hash } from 'node:crypto'
import { type Cache, type ChangeFeed, createCache, recordChange } from '../db/changes.ts'
import type { Db, Queryable, Tx } from '../db/db.ts'
import { fail } from '../errors.ts'
import type { Page } from '../http/paging.ts'
import { newId, randomText } from '../ids.ts'
import { type Actor, actorLabel, audit } from '../partners/audit.ts'
import type { Timestamp } from '../times.ts'

export const operatorsSubject = 'operators' // of the change feed

export interface OperatorTokenRow {
  id: string
  name: string
  roles: string[]
  createdAt: Timestamp
  createdBy: string
  revokedAt: Timestamp | null
}

export type OperatorTokens = Cache<OperatorTokenRow> // by the hash of the token, in hex

export function cacheOperatorTokens(db: Db, feed: ChangeFeed): OperatorTokens {
  return createCache(feed, async (hash) => {
    const { rows } = await db.query<OperatorTokenRow>(
      'select id, name, roles, created_at, created_by, revoked_at from operator_tokens where secret_hash = $1 and revoked_at is null',
      [Buffer.from(hash, 'hex')],
    )
    return rows[0] && { subject: operatorsSubject, value: rows[0] }
  })
}

export function hashToken(secret: string): Buffer {
  return hash('sha256', secret, 'buffer')
}

export async function createToken(tx: Tx, actor: Actor, wanted: { name: string; roles: readonly string[] }) {
  const secret = `opt_${randomText(40)}`
  const { rows } = await tx.query<OperatorTokenRow>(
    `insert into operator_tokens (id, name, roles, secret_hash, created_by) values ($1, $2, $3, $4, $5)
     on conflict (name) where revoked_at is null do nothing
     returning id, name, roles, created_at, created_by, revoked_at`,
    [newId('opt'), wanted.name, wanted.roles, hashToken(secret), actorLabel(actor)],
  )
  const row = rows[0]
  if (!row)
    throw fail('conflict', `name ${JSON.stringify(wanted.name)} is taken by an active token; revoke that one first.`)
  await audit(tx, actor, { action: 'token.created', targetId: row.id, details: { name: row.name, roles: row.roles } })
  await recordChange(tx, operatorsSubject)
  return { row, secret }
}

export async function revokeToken(tx: Tx, actor: Actor, id: string): Promise<void> {
  const { rows } = await tx.query<{ name: string }>(
    'update operator_tokens set revoked_at = coalesce(revoked_at, now()) where id = $1 returning name',
    [id],
  )
  if (!rows[0]) throw fail('not_found', 'There is no such operator token.')
  await audit(tx, actor, { action: 'token.revoked', targetId: id, details: { name: rows[0].name } })
  await recordChange(tx, operatorsSubject)
}

export async function listTokens(db: Queryable, page: Page): Promise<OperatorTokenRow[]> {
  const { rows } = await db.query<OperatorTokenRow>(
    `select id, name, roles, created_at, created_by, revoked_at from operator_tokens
     where ($1::text is null or id < $1) order by id desc limit $2`,
    [page.before, page.limit + 1],
  )
  return rows
}
