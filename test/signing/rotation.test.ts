// Rotation: a receiver that caches the JWKS for as long as it may never meets a key it does not know. Costs about 14 s on each
// database.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLocalJWKSet, decodeProtectedHeader, jwtVerify } from 'jose'
import type { Body } from '../support/client.ts'
import { databaseKind } from '../support/database.ts'
import { type Endpoint, eventually, startEndpoint } from '../support/endpoint.ts'
import { lastingDatabase } from '../support/offline.ts'
import { as, newPartner, subscribe } from '../support/partner.ts'
import type { TestService } from '../support/service.ts'

type Jwks = Parameters<typeof createLocalJWKSet>[0]
const day = 86_400_000

const jwksOf = async ({ url }: { url: string }): Promise<Jwks> =>
  (await fetch(`${url}/.well-known/jwks.json`)).json() as Promise<Jwks>
const kidsOf = async (service: { url: string }) => (await jwksOf(service)).keys.map((key) => key.kid)
const keysOf = async ({ operator }: TestService): Promise<Body[]> =>
  (await operator.get('/signing-keys')).body.signing_keys
const rotate = async ({ operator }: TestService, now: boolean): Promise<Body> => {
  const reply = await operator.post('/signing-keys/rotate', { now })
  assert.equal(reply.status, 201, reply.text)
  return reply.body
}

// A test event, sent by this very process: its signature.
async function signed(
  service: TestService,
  secret: string,
  endpoint: Endpoint,
  subscriptionId: string,
): Promise<string> {
  const { body } = await as(service.partner, secret).post(`/webhooks/subscriptions/${subscriptionId}/test`)
  assert.equal(body.delivered, true, JSON.stringify(body))
  return endpoint.received.at(-1)!.headers['x-jwt-signature'] as string
}
const kidOf = (token: string) => decodeProtectedHeader(token).kid

test('a rotation never makes a delivery fail for a receiver that caches the JWKS for its max-age', async (t) => {
  const database = await lastingDatabase(t)
  const endpoint = await startEndpoint(t)
  const first = await database.start()
  const { api, secret } = await newPartner(first)
  const { id: audience } = await subscribe(api, endpoint.url)
  let clockAheadMs = 0
  const verifies = async (token: string, cached: Jwks) => {
    const currentDate = new Date(Date.now() + clockAheadMs)
    await jwtVerify(token, createLocalJWKSet(cached), { audience, currentDate })
  }

  const beforeRotation = await jwksOf(first)
  const [old] = await keysOf(first)
  const fresh = await rotate(first, false)
  // Announced at once, signing a day later, the old one kept for a day more.
  assert.deepEqual(Object.keys(fresh), ['id', 'algorithm', 'signs_from', 'published_until', 'created_at', 'created_by'])
  const announcedMs = Date.parse(fresh.signs_from) - Date.parse(fresh.created_at)
  assert.ok(announcedMs >= day && announcedMs >= 2 * 300_000)
  assert.equal(fresh.published_until, null)
  await eventually(async () => (await kidsOf(first)).includes(fresh.id), 'the new key to be published')
  assert.deepEqual(await kidsOf(first), [fresh.id, old.id])
  const kept = (await keysOf(first)).find((key) => key.id === old.id)!
  assert.ok(Date.parse(kept.published_until) - Date.parse(fresh.signs_from) >= day - 1_000)
  const token = await signed(first, secret, endpoint, audience)
  assert.equal(kidOf(token), old.id)
  await verifies(token, beforeRotation)
  await first.stop()

  // A hundred seconds before the new key signs, and a hundred after, with the JWKS fetched before.
  await database.offline((db) =>
    db.query(`update signing_keys set signs_from = now() + interval '100 seconds' where id = $1`, [fresh.id]),
  )
  const second = await database.start({ now: () => new Date(Date.now() + clockAheadMs) })
  const atTheTurn = await jwksOf(second)
  const lastOfOld = await signed(second, secret, endpoint, audience)
  assert.equal(kidOf(lastOfOld), old.id)
  clockAheadMs = 200_000
  const firstOfNew = await signed(second, secret, endpoint, audience)
  assert.equal(kidOf(firstOfNew), fresh.id)
  await verifies(firstOfNew, atTheTurn)
  await verifies(lastOfOld, await jwksOf(second)) // still under way when the turn came
  await second.stop()

  // Shortly before and after the old key goes.
  clockAheadMs = 0
  const shift = (until: string) =>
    database.offline((db) =>
      db.query(
        `update signing_keys set signs_from = now() - interval '1 day', published_until = case when id = $1 then now() + $2::interval end`,
        [old.id, until],
      ),
    )
  await shift('100 seconds')
  const third = await database.start()
  assert.deepEqual(new Set(await kidsOf(third)), new Set([fresh.id, old.id]))
  const beforeTheEnd = await jwksOf(third)
  await third.stop()
  await shift('-1 second')
  const fourth = await database.start()
  assert.deepEqual(await kidsOf(fourth), [fresh.id])
  const last = await signed(fourth, secret, endpoint, audience)
  assert.equal(kidOf(last), fresh.id)
  await verifies(last, beforeTheEnd)
})

test('rotating now, for a compromise, signs with the new key at once and withdraws all others', async (t) => {
  const database = await lastingDatabase(t)
  const endpoint = await startEndpoint(t)
  const service = await database.start()
  const { api, secret } = await newPartner(service)
  const { id: audience } = await subscribe(api, endpoint.url)
  await rotate(service, false)
  const key = await rotate(service, true)
  await eventually(async () => (await kidsOf(service)).length === 1, 'the others to be withdrawn')
  assert.deepEqual(await kidsOf(service), [key.id])
  const token = await signed(service, secret, endpoint, audience)
  assert.equal(kidOf(token), key.id)
  await jwtVerify(token, createLocalJWKSet(await jwksOf(service)), { audience })
  const { body } = await service.operator.get('/audit-log?limit=2')
  assert.deepEqual(body.entries.map((each: Body) => [each.action, each.details.now]).sort(), [
    ['signing_key.rotated', false],
    ['signing_key.rotated', true],
  ])
  const { body: reader } = await service.operator.post('/tokens', { name: 'reader', roles: ['read'] })
  assert.equal(
    (await service.operator.post('/signing-keys/rotate', { now: true }, { token: reader.secret })).status,
    403,
  )
  assert.equal((await service.operator.post('/signing-keys/rotate', {})).status, 400)
})

test('a key that is too old is replaced by itself, once, also when several processes notice', async (t) => {
  const database = await lastingDatabase(t)
  const environment = { SIGNING_KEY_ROTATION: '30d' }
  const first = await database.start({ environment })
  const [old] = await keysOf(first)
  await first.stop()
  const age = (days: number) =>
    database.offline((db) => db.query(`update signing_keys set signs_from = now() - $1 * interval '1 day'`, [days]))
  await age(29)
  const second = await database.start({ environment })
  assert.equal((await keysOf(second)).length, 1, 'not before its time')
  await second.stop()
  await age(31)
  const several = await Promise.all(
    Array.from({ length: databaseKind === 'postgres' ? 3 : 1 }, () => database.start({ environment })),
  )
  const keys = await keysOf(several[0]!)
  assert.equal(keys.length, 2)
  assert.equal(keys[1].id, old.id)
  assert.equal(keys[0].created_by, 'service')
  assert.ok(Date.parse(keys[0].signs_from) - Date.now() > day - 60_000)
  for (const each of several) assert.deepEqual(await kidsOf(each), [keys[0].id, old.id])
  for (const each of several) await each.stop()
  const again = await database.start({ environment })
  assert.equal((await keysOf(again)).length, 2, 'the new one is not replaced while it waits')
})

if (databaseKind === 'postgres') {
  test('what one process rotates, another publishes and signs with', async (t) => {
    const database = await lastingDatabase(t)
    const endpoint = await startEndpoint(t)
    const [one, other] = [await database.start(), await database.start()]
    const { api, secret } = await newPartner(one)
    const { id: audience } = await subscribe(api, endpoint.url)
    const next = await rotate(one, false)
    await eventually(async () => (await kidsOf(other)).includes(next.id), 'the other to publish it', 20_000)
    const now = await rotate(one, true)
    await eventually(async () => (await kidsOf(other)).join() === now.id, 'the other to withdraw the rest', 20_000)
    for (const each of [one, other]) assert.equal(kidOf(await signed(each, secret, endpoint, audience)), now.id)
  })
}
