// What this process remembers about partners: credentials and ready-made account replies, true to within a second (see
// db/changes.ts). A hit costs no query and no serialisation.
import { createHash, createPublicKey, type KeyObject } from 'node:crypto'
import { BlockList } from 'node:net'
import { addCidr } from '../addresses.ts'
import { type Cache, type ChangeFeed, createCache } from '../db/changes.ts'
import type { Db } from '../db/db.ts'
import { accountOf } from './configuration.ts'
import { type CredentialRow, findConfiguration, findCredential } from './queries.ts'

export interface Credential extends CredentialRow {
  readonly verifyKey: KeyObject | undefined
  readonly allowed: BlockList | undefined // undefined: from anywhere
  readonly expiresAtMs: number
}

export interface AccountReply {
  readonly body: Buffer
  readonly etag: string
}

export interface Directory {
  readonly credentials: Cache<Credential> // by the prefix of a secret key or the id of a signed-token key
  readonly accounts: Cache<AccountReply> // by partner
}

export function createDirectory(db: Db, feed: ChangeFeed): Directory {
  return {
    credentials: createCache(feed, async (handle) => {
      const row = await findCredential(db, handle)
      return row && { subject: row.partnerId, value: toCredential(row) }
    }),
    accounts: createCache(feed, async (partnerId) => {
      const row = await findConfiguration(db, partnerId)
      if (!row) return undefined
      const body = Buffer.from(JSON.stringify(accountOf(row.document)))
      const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 27)}"`
      return { subject: partnerId, value: { body, etag } }
    }),
  }
}

export function toCredential(row: CredentialRow): Credential {
  const allowed = new BlockList()
  for (const cidr of row.allowedCidrs) addCidr(allowed, cidr)
  return {
    ...row,
    verifyKey: row.publicKey === null ? undefined : createPublicKey(row.publicKey),
    allowed: row.allowedCidrs.length > 0 ? allowed : undefined,
    expiresAtMs: row.expiresAt === null ? Number.POSITIVE_INFINITY : Date.parse(row.expiresAt),
  }
}
