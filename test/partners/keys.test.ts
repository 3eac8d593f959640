// /v1/partner/keys: a partner looks after its own keys, never gains more than the key it uses already has, and never learns
// anything about another partner's.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { type ApiClient, type Body, createClient } from '../support/client.ts'
import { startTestService } from '../support/service.ts'
import { keyPair } from '../support/signed-tokens.ts'

const service = await startTestService({ after })
const { operator } = service

// A partner of its own for each test, with a client that uses its first key.
async function newPartner(wanted: object = {}): Promise<{ id: string; first: Body; client: ApiClient }> {
  const { body: partner } = await operator.post('/partners', { name: 'Key Keeper' })
  const key = { name: 'first', scopes: ['partner:read', 'keys:write'], ...wanted }
  const { body: first } = await operator.post(`/partners/${partner.id}/keys`, key)
  return { id: partner.id, first, client: createClient(service.url, '/v1', first.secret) }
}

const keysOf = async (client: ApiClient): Promise<Body[]> => (await client.get('/partner/keys')).body.keys
const auditOf = async (partnerId: string): Promise<Body[]> =>
  (await operator.get(`/audit-log?partner_id=${partnerId}`)).body.entries

test('a new key is shown with its secret once, and listed without it ever after', async () => {
  const { client, first } = await newPartner()
  const { status, headers, body } = await client.post('/partner/keys', { name: 'second', scopes: ['partner:read'] })
  assert.equal(status, 201)
  assert.equal(headers.get('cache-control'), 'no-store')
  const { secret, ...rest } = body
  assert.match(secret, /^psk_[0-9a-z]{12}_[0-9a-z]{32}$/)
  assert.equal(body.prefix, secret.slice(0, 16))
  assert.match(body.id, /^key_[0-9a-z]{26}$/)
  assert.match(body.created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
  assert.deepEqual(
    { ...rest, id: '', prefix: '', created_at: '' },
    {
      id: '',
      name: 'second',
      kind: 'secret',
      prefix: '',
      algorithm: null,
      scopes: ['partner:read'],
      required_claims: [],
      allowed_cidrs: [],
      expires_at: null,
      last_used_at: null,
      revoked_at: null,
      created_at: '',
      created_by: `key first (${first.id})`,
    },
  )
  const listed = await client.get('/partner/keys')
  assert.deepEqual(
    listed.body.keys.find((key: Body) => key.id === body.id),
    rest,
  )
  assert.ok(!listed.text.includes(secret.slice(17)))
})

test('rotation: a second key beside the first, then the first is gone and the second goes on', async () => {
  const { id, client, first } = await newPartner()
  const { body: second } = await client.post('/partner/keys', { name: 'second', scopes: first.scopes })
  const renewed = createClient(service.url, '/v1', second.secret)
  assert.deepEqual([(await client.get('/partner')).status, (await renewed.get('/partner')).status], [200, 200])
  assert.equal((await renewed.delete(`/partner/keys/${first.id}`)).status, 204)
  assert.deepEqual([(await client.get('/partner')).status, (await renewed.get('/partner')).status], [401, 200])
  const revoked = (await keysOf(renewed)).filter((key) => key.revoked_at !== null)
  assert.deepEqual(
    revoked.map((key) => key.id),
    [first.id],
  )
  const deeds = (await auditOf(id)).map((each) => [each.action, each.actor, each.target_id])
  for (const deed of [
    ['key.created', { kind: 'operator', id: 'OPERATOR_TOKEN', name: 'bootstrap' }, first.id],
    ['key.created', { kind: 'key', id: first.id, name: 'first' }, second.id],
    ['key.revoked', { kind: 'key', id: second.id, name: 'second' }, first.id],
  ]) {
    assert.ok(
      deeds.some((each) => JSON.stringify(each) === JSON.stringify(deed)),
      `${JSON.stringify(deed)} is in ${JSON.stringify(deeds)}`,
    )
  }
})

test('a key may revoke itself, and then it is gone', async () => {
  const { client, first } = await newPartner()
  assert.equal((await client.delete(`/partner/keys/${first.id}`)).status, 204)
  assert.equal((await client.get('/partner')).status, 401)
})

test('a key never makes one with a scope that it lacks itself', async () => {
  const { client } = await newPartner()
  for (const scope of ['webhooks:read', 'webhooks:write', 'orders:read', 'orders:write', 'orders:confirm']) {
    const { status, body } = await client.post('/partner/keys', { name: 'more', scopes: ['partner:read', scope] })
    assert.deepEqual([status, body.error_code], [403, 'forbidden'])
    assert.match(body.error_msg, new RegExp(scope))
  }
  assert.equal((await keysOf(client)).length, 1)
})

test('a key hands its address list on, and never a wider one', async () => {
  const { client } = await newPartner({ allowed_cidrs: ['127.0.0.0/8', '2001:db8::/32'] })
  const make = (cidrs?: string[]) =>
    client.post('/partner/keys', {
      name: 'narrow',
      scopes: ['partner:read'],
      ...(cidrs ? { allowed_cidrs: cidrs } : {}),
    })
  assert.deepEqual((await make()).body.allowed_cidrs, ['127.0.0.0/8', '2001:db8::/32'])
  assert.deepEqual((await make([])).body.allowed_cidrs, ['127.0.0.0/8', '2001:db8::/32'])
  assert.deepEqual((await make(['127.0.0.1'])).body.allowed_cidrs, ['127.0.0.1'])
  const wider = ['0.0.0.0/0', '127.0.0.0/7', '10.0.0.1', '::/0', '2001:db8::/31', '::ffff:127.0.0.0/20']
  for (const cidr of wider) {
    const { status, body } = await make(['127.0.0.1', cidr])
    assert.deepEqual([status, body.error_code], [403, 'forbidden'], cidr)
    assert.match(body.error_msg, /^allowed_cidrs\[1\]/)
  }
  assert.equal((await keysOf(client)).length, 4)
})

test('another partner’s key is as unknown as one that never was', async () => {
  const mine = await newPartner()
  const theirs = await newPartner()
  const foreign = await mine.client.delete(`/partner/keys/${theirs.first.id}`)
  const unknown = await mine.client.delete(`/partner/keys/key_${'0'.repeat(26)}`)
  assert.deepEqual([foreign.status, foreign.body.error_code], [404, 'not_found'])
  assert.equal(foreign.text, unknown.text)
  assert.equal((await theirs.client.get('/partner')).status, 200)
  assert.deepEqual(
    (await keysOf(mine.client)).map((key) => key.id),
    [mine.first.id],
  )
  const byOperator = await operator.delete(`/partners/${mine.id}/keys/${theirs.first.id}`)
  assert.equal(byOperator.status, 404)
  assert.equal((await theirs.client.get('/partner')).status, 200)
})

test('keys are paged newest first, without gaps or repeats while more are made', async () => {
  const { client, first } = await newPartner()
  const made: string[] = [first.id]
  const make = async () => (await client.post('/partner/keys', { name: 'n', scopes: ['partner:read'] })).body.id
  for (let i = 0; i < 4; i++) made.push(await make())
  const seen: string[] = []
  for (let cursor: string | null = ''; cursor !== null; await make()) {
    const { body }: { body: Body } = await client.get(`/partner/keys?limit=2${cursor && `&cursor=${cursor}`}`)
    seen.push(...body.keys.map((key: Body) => key.id))
    cursor = body.next_cursor
  }
  assert.deepEqual(seen, made.sort().reverse())
})

test('a public key must be one, be public, and fit its algorithm', async () => {
  const { client } = await newPartner()
  const { publicPem: p256, privateKey } = keyPair('ES256')
  const privatePem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  for (const [wanted, place] of [
    [{ algorithm: 'ES256' }, 'public_key'],
    [{ public_key: p256 }, 'algorithm'],
    [{ algorithm: 'RS256', public_key: p256 }, 'public_key'],
    [{ algorithm: 'EdDSA', public_key: p256 }, 'public_key'],
    [{ algorithm: 'ES256', public_key: 'nonsense' }, 'public_key'],
    [{ algorithm: 'ES256', public_key: privatePem }, 'public_key'],
    [{ algorithm: 'HS256', public_key: p256 }, 'algorithm'],
    [{ algorithm: 'none', public_key: p256 }, 'algorithm'],
    [{ required_claims: ['jti'] }, 'required_claims'],
    [{ algorithm: 'ES256', public_key: p256, required_claims: ['sub'] }, 'required_claims[0]'],
  ] as const) {
    const { status, body } = await client.post('/partner/keys', { name: 'k', scopes: ['partner:read'], ...wanted })
    assert.deepEqual([status, body.error_code], [400, 'invalid_parameters'], JSON.stringify(wanted))
    assert.ok(body.error_msg.startsWith(place), body.error_msg)
    assert.ok(!body.error_msg.includes('BEGIN'), 'a key is not repeated in the message')
  }
  assert.equal((await keysOf(client)).length, 1)
  const { body } = await client.post('/partner/keys', {
    name: 'k',
    scopes: ['partner:read'],
    algorithm: 'ES256',
    public_key: p256,
  })
  assert.deepEqual([body.kind, body.algorithm, body.prefix, 'secret' in body], ['signed_token', 'ES256', null, false])
})
