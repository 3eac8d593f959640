// Console sessions and sign-in links. A session belongs to an API key and dies with it; a link becomes one session, once, within
// minutes. Of both only the hash is stored; what this process remembers of sessions is true to within a second (db/changes.ts).
import { hash, randomBytes } from 'node:crypto'
import { cidrWithin } from '../addresses.ts'
import { type Cache, type ChangeFeed, createCache, recordChange } from '../db/changes.ts'
import type { Db, Tx } from '../db/db.ts'
import { fail } from '../errors.ts'
import type { Timestamp } from '../times.ts'
import { type Actor, actorLabel, audit } from './audit.ts'
import type { KeyLimits } from './keys.ts'
import { findKey, type KeyRow } from './queries.ts'
import { deleteSession, findSession, insertLink, insertSession, type LinkRow, redeemLink } from './session-queries.ts'

const sessionMs = 12 * 3_600_000
const linkMs = 15 * 60_000

export interface Session {
  readonly tokenHash: string // in hex
  readonly partnerId: string
  readonly keyId: string
  readonly expiresAt: Timestamp
  readonly expiresAtMs: number
}

export type Sessions = Cache<Session> // by the hash of the token, in hex

export function cacheSessions(db: Db, feed: ChangeFeed): Sessions {
  return createCache(feed, async (tokenHash) => {
    const row = await findSession(db, Buffer.from(tokenHash, 'hex'))
    if (!row) return undefined
    return { subject: row.partnerId, value: { ...row, tokenHash, expiresAtMs: Date.parse(row.expiresAt) } }
  })
}

// 256 random bits.
export function newToken(): string {
  return randomBytes(32).toString('base64url')
}

export function hashSessionToken(token: string): string {
  return hash('sha256', token, 'hex')
}

export interface NewSession {
  readonly token: string
  readonly expiresAt: Date
}

// Never longer than its key lives.
export async function beginSession(tx: Tx, actor: Actor, key: KeyRow, how: string, now: Date): Promise<NewSession> {
  const token = newToken()
  const latest = now.getTime() + sessionMs
  const expiresAt = new Date(key.expiresAt === null ? latest : Math.min(latest, Date.parse(key.expiresAt)))
  const tokenHash = Buffer.from(hashSessionToken(token), 'hex')
  await insertSession(tx, { partnerId: key.partnerId, keyId: key.id, tokenHash, now, expiresAt })
  await audit(tx, actor, {
    action: 'console.signed_in',
    partnerId: key.partnerId,
    targetId: key.id,
    details: { with: how },
  })
  return { token, expiresAt }
}

export async function endSession(tx: Tx, actor: Actor, { partnerId, keyId, tokenHash }: Session): Promise<void> {
  await deleteSession(tx, partnerId, Buffer.from(tokenHash, 'hex'))
  await audit(tx, actor, { action: 'console.signed_out', partnerId, targetId: keyId })
  await recordChange(tx, partnerId)
}

export interface NewLink {
  readonly url: string
  readonly expiresAt: Date
}

// The token stands behind the #: no server, proxy or log on the way sees it. `limits` are those of the key that asks.
export async function createLink(
  tx: Tx,
  actor: Actor,
  { partnerId, keyId, publicUrl }: { partnerId: string; keyId: string; publicUrl: string },
  options: { now: Date; limits?: KeyLimits },
): Promise<NewLink> {
  const key = await findKey(tx, partnerId, keyId)
  if (!key) throw fail('not_found', 'There is no such API key.')
  if (!isUsable(key, options.now)) throw fail('conflict', 'The API key is revoked or has expired.')
  if (options.limits) refuseMore(key, options.limits)
  const token = newToken()
  const expiresAt = new Date(options.now.getTime() + linkMs)
  await insertLink(tx, {
    partnerId,
    keyId,
    tokenHash: Buffer.from(hashSessionToken(token), 'hex'),
    createdBy: actorLabel(actor),
    now: options.now,
    expiresAt,
  })
  await audit(tx, actor, { action: 'console_link.created', partnerId, targetId: keyId })
  return { url: `${publicUrl}/console#link=${token}`, expiresAt }
}

// Undefined when there is no such link, or it has expired, or somebody used it before.
export function takeLink(tx: Tx, token: string, now: Date): Promise<LinkRow | undefined> {
  return redeemLink(tx, Buffer.from(hashSessionToken(token), 'hex'), now)
}

export function isUsable(key: Pick<KeyRow, 'revokedAt' | 'expiresAt'>, now: Date): boolean {
  return key.revokedAt === null && (key.expiresAt === null || Date.parse(key.expiresAt) > now.getTime())
}

// A link is no way to more than the key that makes it has.
function refuseMore(key: KeyRow, own: KeyLimits): void {
  const excess = key.scopes.find((scope) => !own.scopes.includes(scope))
  if (excess) throw fail('forbidden', `The API key has the scope ${excess}, which the calling key does not have.`)
  const wider =
    own.allowedCidrs.length > 0 &&
    (key.allowedCidrs.length === 0 || key.allowedCidrs.some((cidr) => !cidrWithin(cidr, own.allowedCidrs)))
  if (wider) throw fail('forbidden', "The API key may be used from beyond the calling key's own list of addresses.")
}
