// Sign-in links: one use, a quarter of an hour, by POST only, never to more than whoever makes them may do.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { signIn } from '../support/browser.ts'
import type { ApiClient } from '../support/client.ts'
import { newKey } from '../support/partner.ts'
import { startTestService } from '../support/service.ts'

let now = Date.now()
const service = await startTestService(
  { after },
  { now: () => new Date(now), environment: { PUBLIC_URL: 'http://console.example:9' } },
)
const { partner, operator, demoSecret, demoPartnerId } = service
const refusal = 'The sign-in link was used, has expired, or its API key is gone.'

async function newLink(by: ApiClient = partner, body: object = {}): Promise<string> {
  const reply = await by.post('/console/links', body)
  assert.equal(reply.status, 201, reply.text)
  assert.equal(reply.headers.get('cache-control'), 'no-store')
  const url = new URL(reply.body.url)
  assert.equal(url.origin + url.pathname + url.search, 'http://console.example:9/console')
  const [, token] = /^#link=([\w-]{43})$/.exec(url.hash) ?? []
  return token!
}
const redeem = (link: string) => partner.post('/console/session', { link }, { token: null })
const assertRefused = async (link: string, why: string) => {
  const { status, body, headers } = await redeem(link)
  assert.deepEqual([status, body.error_code, body.error_msg], [401, 'auth_required', refusal], why)
  assert.deepEqual(headers.getSetCookie(), [])
}

test('a link signs in once, with the key that made it', async () => {
  const { id, api } = await newKey(service, demoPartnerId, ['partner:read', 'keys:write'])
  const link = await newLink(api)
  const browser = await signIn(partner, { link })
  assert.deepEqual([browser.signedIn.body.key_id, browser.signedIn.body.scopes], [id, ['partner:read', 'keys:write']])
  assert.equal((await browser.get('/partner')).status, 200)
  await assertRefused(link, 'the second time')
  assert.equal((await browser.get('/partner')).status, 200, 'and the session of the first time goes on')
})

test('of many who redeem a link at once, one is signed in', async () => {
  const link = await newLink()
  const statuses = (await Promise.all(Array.from({ length: 20 }, () => redeem(link)))).map((reply) => reply.status)
  assert.deepEqual(statuses.sort(), [201, ...Array.from({ length: 19 }, () => 401)])
})

test('nothing that only looks at a link uses it up', async () => {
  const link = await newLink()
  for (const path of [
    `/console#link=${link}`,
    `/console?link=${link}`,
    `/v1/console/session?link=${link}`,
    `/v1/console/links/${link}`,
  ]) {
    for (const method of ['GET', 'HEAD', 'OPTIONS']) {
      const reply = await fetch(service.url + path, { method })
      assert.deepEqual(reply.headers.getSetCookie(), [], `${method} ${path}`)
    }
  }
  assert.equal((await redeem(link)).status, 201)
})

test('a link is good for a quarter of an hour', async (t) => {
  const begin = now
  t.after(() => {
    now = Date.now()
  })
  const [early, late] = [await newLink(), await newLink()]
  now = begin + 15 * 60_000 - 1_000
  assert.equal((await redeem(early)).status, 201)
  now = begin + 15 * 60_000 + 1_000
  await assertRefused(late, 'after it has expired')
})

test('what is no link is refused like one that was used', async () => {
  for (const link of ['', 'x', 'A'.repeat(43), demoSecret]) await assertRefused(link, link)
})

test('a link for another key is made only when that one may do no more', async () => {
  const maker = await newKey(service, demoPartnerId, ['partner:read', 'webhooks:read', 'keys:write'])
  const less = await newKey(service, demoPartnerId, ['webhooks:read'])
  const more = await newKey(service, demoPartnerId, ['webhooks:read', 'orders:confirm'])
  const { signedIn } = await signIn(partner, { link: await newLink(maker.api, { key_id: less.id }) })
  assert.deepEqual([signedIn.body.key_id, signedIn.body.scopes], [less.id, ['webhooks:read']])
  const refused = await maker.api.post('/console/links', { key_id: more.id })
  assert.deepEqual([refused.status, refused.body.error_code], [403, 'forbidden'])
  assert.match(refused.body.error_msg, /orders:confirm/)
  const unable = await less.api.post('/console/links', {})
  assert.equal(unable.status, 403, 'and only with keys:write')
})

test('a key that is bound to addresses makes no link for one that is not', async () => {
  const make = async (cidrs: string[]) => {
    const wanted = { name: 'listed', scopes: ['partner:read', 'keys:write'], allowed_cidrs: cidrs }
    return (await operator.post(`/partners/${demoPartnerId}/keys`, wanted)).body
  }
  const [maker, narrower, wider, free] = [
    await make(['127.0.0.0/8']),
    await make(['127.0.0.1']),
    await make(['0.0.0.0/0']),
    await make([]),
  ]
  const link = (key_id: string) => partner.post('/console/links', { key_id }, { token: maker.secret })
  assert.equal((await link(narrower.id)).status, 201)
  for (const { id } of [wider, free]) assert.equal((await link(id)).status, 403)
})

test('a link is worth nothing once its key is gone, and there is none for a key that is', async () => {
  const { id } = await newKey(service, demoPartnerId, ['partner:read'])
  const link = await newLink(partner, { key_id: id })
  await operator.delete(`/partners/${demoPartnerId}/keys/${id}`)
  await assertRefused(link, 'its key was revoked')
  const again = await partner.post('/console/links', { key_id: id })
  assert.deepEqual([again.status, again.body.error_code], [409, 'conflict'])
  const byOperator = await operator.post(`/partners/${demoPartnerId}/console-links`, { key_id: id })
  assert.equal(byOperator.status, 409)
})

test('a link from an address that its key does not allow is refused, and still good from one that it does', async (t) => {
  const proxied = await startTestService(t, { environment: { TRUSTED_PROXIES: '127.0.0.1' } })
  const wanted = { name: 'listed', scopes: ['partner:read'], allowed_cidrs: ['203.0.113.0/24'] }
  const { body: key } = await proxied.operator.post(`/partners/${proxied.demoPartnerId}/keys`, wanted)
  const made = await proxied.operator.post(`/partners/${proxied.demoPartnerId}/console-links`, { key_id: key.id })
  const link = new URL(made.body.url).hash.slice('#link='.length)
  const from = (address: string) =>
    proxied.partner.post('/console/session', { link }, { token: null, headers: { 'x-forwarded-for': address } })
  assert.equal((await from('192.0.2.1')).status, 403)
  assert.equal((await from('203.0.113.1')).status, 201)
})

test('an operator makes a link for a key of a partner, and the audit log knows both ends of it', async () => {
  const { id } = await newKey(service, demoPartnerId, ['partner:read'])
  const made = await operator.post(`/partners/${demoPartnerId}/console-links`, { key_id: id })
  assert.equal(made.status, 201, made.text)
  const token = new URL(made.body.url).hash.slice('#link='.length)
  await signIn(partner, { link: token })
  const { entries } = (await operator.get(`/audit-log?partner_id=${demoPartnerId}&limit=2`)).body
  assert.deepEqual(
    entries.map((each: { action: string; actor: object; target_id: string; details: object }) => [
      each.action,
      (each.actor as { kind: string }).kind,
      each.target_id,
      each.details,
    ]),
    [
      ['console.signed_in', 'key', id, { with: 'link' }],
      ['console_link.created', 'operator', id, {}],
    ],
  )
  assert.ok(!JSON.stringify(entries).includes(token))
  const other = (await operator.post('/partners', { name: 'Other' })).body
  for (const path of [`/partners/${other.id}`, `/partners/ptr_${'0'.repeat(26)}`])
    assert.equal((await operator.post(`${path}/console-links`, { key_id: id })).status, 404)
})

test('a repeated request makes no second link and shows the first no more', async () => {
  const once = () => partner.post('/console/links', {}, { headers: { 'idempotency-key': 'one-link' } })
  assert.deepEqual([(await once()).status, (await once()).status], [201, 409])
})
