// Private keys at rest: encrypted under a versioned master key that can be changed, and useless without it. Costs about 10 s on
// each database.
import assert from 'node:assert/strict'
import { createPrivateKey, randomBytes } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { createRemoteJWKSet, jwtVerify } from 'jose'
import type { Db } from '../../src/db/db.ts'
import type { SigningKeyRow } from '../../src/signing/keys.ts'
import { unseal } from '../../src/signing/sealing.ts'
import { startEndpoint } from '../support/endpoint.ts'
import { lastingDatabase } from '../support/offline.ts'
import { as, newPartner, subscribe } from '../support/partner.ts'

const newMasterKey = (version: number) => `${version}:${randomBytes(32).toString('base64')}`
const readKeys = async (db: Db) => (await db.query<SigningKeyRow>('select * from signing_keys order by id')).rows

test('the database holds no private key in clear, and no row can stand in for another', async (t) => {
  const database = await lastingDatabase(t)
  const service = await database.start()
  await service.operator.post('/signing-keys/rotate', { now: false })
  await service.stop()
  const masterFile = join(database.dataDir, 'master-key')
  assert.equal(statSync(masterFile).mode & 0o777, 0o600)
  const [version, encoded] = readFileSync(masterFile, 'utf8').trim().split(':')
  const masterKeys = [{ version: Number(version), bytes: Buffer.from(encoded!, 'base64') }]
  const rows = await database.offline(readKeys)
  assert.equal(rows.length, 2)
  for (const row of rows) {
    const stored = Buffer.from(row.privateKey)
    assert.throws(() => createPrivateKey({ key: stored, format: 'der', type: 'pkcs8' }))
    const der = unseal(masterKeys, row.masterKeyVersion, row.id, stored)
    const { d } = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }).export({ format: 'jwk' })
    const secret = Buffer.from(d!, 'base64url')
    const everything = [stored, Buffer.from(JSON.stringify(row.publicJwk))]
    for (const each of everything) {
      assert.ok(!each.includes(secret) && !each.includes(secret.toString('hex')) && !each.includes(d!))
      assert.ok(!each.includes(der.subarray(0, 26)), 'nor the beginning that every such key has')
    }
  }
  await database.offline((db) =>
    db.query('update signing_keys set private_key = $2 where id = $1', [rows[0]!.id, rows[1]!.privateKey]),
  )
  await assert.rejects(database.start(), /does not open signing key/)
})

test('without the right master key the service does not start, and says why', async (t) => {
  const database = await lastingDatabase(t)
  const right = newMasterKey(1)
  const first = await database.start({ environment: { MASTER_KEY: right } })
  const kids = async (url: string) => (await (await fetch(`${url}/.well-known/jwks.json`)).json()) as unknown
  const before = await kids(first.url)
  await first.stop()
  await assert.rejects(
    database.start({ environment: { MASTER_KEY: newMasterKey(1) } }),
    /^Error: MASTER_KEY version 1 does not open signing key sig_\w+: it is not the key that encrypted it\.$/,
  )
  await assert.rejects(
    database.start({ environment: { MASTER_KEY: newMasterKey(2) } }),
    /^Error: MASTER_KEY has no version 1, which signing key sig_\w+ is encrypted with\. Add it behind the current one\.$/,
  )
  const again = await database.start({ environment: { MASTER_KEY: right } })
  assert.deepEqual(await kids(again.url), before, 'and nothing was changed by the attempts')
})

test('a new master key takes over without a new signing key, and the old one can then go', async (t) => {
  const database = await lastingDatabase(t)
  const endpoint = await startEndpoint(t)
  const [one, two] = [newMasterKey(1), newMasterKey(2)]
  const first = await database.start({ environment: { MASTER_KEY: one } })
  const { api, secret } = await newPartner(first)
  const { id: audience } = await subscribe(api, endpoint.url)
  await first.operator.post('/signing-keys/rotate', { now: false })
  await first.stop()
  const before = await database.offline(readKeys)

  const second = await database.start({ environment: { MASTER_KEY: `${two},${one}` } })
  const reencrypt = async () => (await second.operator.post('/signing-keys/reencrypt')).body
  assert.deepEqual(await reencrypt(), { reencrypted: 2 })
  assert.deepEqual(await reencrypt(), { reencrypted: 0 })
  const { body } = await second.operator.get('/audit-log?limit=2')
  assert.equal(body.entries[1].action, 'signing_keys.reencrypted')
  await second.stop()
  const after = await database.offline(readKeys)
  assert.deepEqual(
    after.map(({ id, publicJwk, masterKeyVersion }) => ({ id, publicJwk, masterKeyVersion })),
    before.map(({ id, publicJwk }) => ({ id, publicJwk, masterKeyVersion: 2 })),
  )
  await assert.rejects(database.start({ environment: { MASTER_KEY: one } }), /MASTER_KEY has no version 2/)
  const third = await database.start({ environment: { MASTER_KEY: two } })
  const result = await as(third.partner, secret).post(`/webhooks/subscriptions/${audience}/test`)
  assert.equal(result.body.delivered, true)
  const keys = createRemoteJWKSet(new URL(`${third.url}/.well-known/jwks.json`))
  await jwtVerify(endpoint.received[0]!.headers['x-jwt-signature'] as string, keys, { audience })
})
