// Idempotency: the effect of a request and the memory of its reply are one transaction. The same key again gets the same reply;
// of any number at once one runs and the others wait for it. What failed changed nothing and is not remembered.
import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { Db, Tx } from '../db/db.ts'
import { fail } from '../errors.ts'
import { rawBody } from './json-body.ts'
import type { Reply } from './route.ts'

const rememberedFor = '24 hours'

// Callers with the same key in this process queue here instead of each holding a database connection while it waits.
const underWay = new Map<string, Promise<unknown>>()

interface Remembered {
  requestHash: Uint8Array
  status: number
  reply: string | null
}

export interface IdempotencyOptions {
  readonly owner: string // the partner or operator the key belongs to: nobody meets another's keys
  readonly secretReply?: boolean // the reply holds a secret and is never stored
}

export async function idempotently(
  db: Db,
  request: FastifyRequest,
  { owner, secretReply = false }: IdempotencyOptions,
  work: (tx: Tx) => Promise<Reply>,
): Promise<Reply> {
  const key = readKey(request)
  if (key === undefined) return db.transaction(work)

  const turn = `${owner}\n${key}`
  const before = underWay.get(turn)
  const mine = (async () => {
    await before?.catch(() => {})
    return db.transaction((tx) => once(tx, owner, key, hashOf(request), secretReply, work))
  })()
  underWay.set(turn, mine)
  try {
    return await mine
  } finally {
    if (underWay.get(turn) === mine) underWay.delete(turn)
  }
}

async function once(
  tx: Tx,
  owner: string,
  key: string,
  requestHash: Uint8Array,
  secretReply: boolean,
  work: (tx: Tx) => Promise<Reply>,
): Promise<Reply> {
  // The primary key makes a second transaction wait here until the first has ended; status 0 is never seen outside of it.
  const claimed = await tx.query(
    `insert into idempotency_keys (owner, key, request_hash, status) values ($1, $2, $3, 0)
     on conflict (owner, key) do update set request_hash = $3, status = 0, reply = null, created_at = now()
       where idempotency_keys.created_at < now() - interval '${rememberedFor}'`,
    [owner, key, requestHash],
  )
  if (claimed.count === 0) return replay(await findRemembered(tx, owner, key), requestHash)

  const reply = await work(tx)
  await tx.query('update idempotency_keys set status = $3, reply = $4 where owner = $1 and key = $2', [
    owner,
    key,
    reply.status,
    secretReply ? null : JSON.stringify(reply.body ?? null),
  ])
  return reply
}

async function findRemembered(tx: Tx, owner: string, key: string): Promise<Remembered> {
  const { rows } = await tx.query<Remembered>(
    'select request_hash, status, reply from idempotency_keys where owner = $1 and key = $2',
    [owner, key],
  )
  if (!rows[0]) throw fail('conflict', 'A request with this Idempotency-Key has just been forgotten; send it again.')
  return rows[0]
}

function replay({ requestHash, status, reply }: Remembered, asked: Uint8Array): Reply {
  if (Buffer.compare(requestHash, asked) !== 0) {
    throw fail('conflict', 'This Idempotency-Key was used with another request; use a new key.')
  }
  if (reply === null) {
    throw fail('conflict', 'This request was carried out already; its reply held a secret and cannot be shown again.')
  }
  return { status, body: JSON.parse(reply), headers: { 'idempotent-replayed': 'true' } }
}

export async function forgetOldReplies(db: Db): Promise<void> {
  await db.query(`delete from idempotency_keys where created_at < now() - interval '${rememberedFor}'`)
}

function readKey(request: FastifyRequest): string | undefined {
  const key = request.headers['idempotency-key']
  if (key === undefined) return undefined
  if (typeof key !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(key)) {
    throw fail('invalid_parameters', 'Idempotency-Key must be 1 to 255 printable ASCII characters without spaces.')
  }
  return key
}

// The same request with and without the /v1 prefix is the same request.
function hashOf(request: FastifyRequest): Buffer {
  const path = request.url.replace(/^\/v1(?=\/)/, '')
  return createHash('sha256').update(`${request.method} ${path}\n`).update(rawBody(request)).digest()
}
