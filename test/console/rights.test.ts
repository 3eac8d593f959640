// A session can do exactly what its key can: every operation of the API is tried with every scope, by key and by cookie; nothing of
// another partner is there for it; and no page of another origin can use it.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { signIn } from '../support/browser.ts'
import type { Body } from '../support/client.ts'
import { newKey, newPartner, publish, subscribe } from '../support/partner.ts'
import { startTestService } from '../support/service.ts'

const service = await startTestService({ after })
const { partner, demoPartnerId, demoSecret } = service
const document = (await (await fetch(`${service.url}/openapi.json`)).json()) as Body
const operations = Object.entries(document.paths as Body).flatMap(([path, methods]) =>
  Object.keys(methods as Body).map((method) => [method.toUpperCase(), path] as const),
)
const scopes = [
  'partner:read',
  'webhooks:read',
  'webhooks:write',
  'orders:read',
  'orders:write',
  'orders:confirm',
  'keys:write',
]
const apart = ['/console/session', '/stream'] // about the cookie itself; goes on for ever

for (const scope of scopes) {
  test(`with ${scope} alone, the cookie opens what the key opens and nothing else`, async () => {
    const { secret, api } = await newKey(service, demoPartnerId, [scope])
    const browser = await signIn(partner, { secret })
    let opened = 0
    for (const [method, path] of operations.filter(([, path]) => !apart.includes(path))) {
      const target = path.replace(/\{\w+\}/g, 'unknown')
      const options = method === 'GET' || method === 'DELETE' ? {} : { body: {} }
      const byKey = await api.call(method, target, options)
      const byCookie = await browser.call(method, target, options)
      const outcome = ({ status, body }: typeof byKey) => [
        status,
        body?.error_code,
        status < 300 ? '' : body?.error_msg,
      ]
      assert.deepEqual(outcome(byCookie), outcome(byKey), `${method} ${path}`)
      if (byCookie.status !== 403) opened++
    }
    assert.ok(opened > 0 && opened < operations.length - 5, `${opened} of ${operations.length} opened`)
  })
}

test('the stream, too, asks for its scope', async () => {
  const { secret } = await newKey(service, demoPartnerId, ['partner:read'])
  const browser = await signIn(partner, { secret })
  assert.equal((await browser.get('/stream')).status, 403)
})

test('the name of the account is told only to a session whose key may read it', async () => {
  const { secret } = await newKey(service, demoPartnerId, ['webhooks:read'])
  const { signedIn } = await signIn(partner, { secret })
  assert.ok(!('partner_name' in signedIn.body))
})

test('ids of another partner are as unknown to a session as ids that never were', async () => {
  const theirs = await newPartner(service, 'Theirs')
  const subscription = await subscribe(theirs.api, 'https://localhost:1/hook')
  const [event] = await publish(service, theirs.id)
  const { id: keyId } = await newKey(service, theirs.id, ['partner:read'])
  const refused = await theirs.api.post('/webhooks/subscriptions', {}, { headers: { 'x-request-id': 'theirs-1' } })
  assert.equal(refused.status, 400)
  const browser = await signIn(partner, { secret: demoSecret })
  const zeros = '0'.repeat(26)
  for (const [method, path, own, none, body] of [
    ['GET', '/webhooks/subscriptions/ID', subscription.id, `sub_${zeros}`],
    ['PATCH', '/webhooks/subscriptions/ID', subscription.id, `sub_${zeros}`, { description: 'mine' }],
    ['DELETE', '/webhooks/subscriptions/ID', subscription.id, `sub_${zeros}`],
    ['POST', '/webhooks/subscriptions/ID/test', subscription.id, `sub_${zeros}`],
    ['GET', '/webhooks/stats?subscription_id=ID', subscription.id, `sub_${zeros}`],
    ['GET', '/webhooks/events/ID', event, `evt_${zeros}`],
    ['POST', '/webhooks/events/ID/resend', event, `evt_${zeros}`],
    ['DELETE', '/partner/keys/ID', keyId, `key_${zeros}`],
    ['POST', '/console/links', keyId, `key_${zeros}`, { key_id: 'ID' }],
    ['GET', '/requests/ID', 'theirs-1', 'nobodys-1'],
  ] as const) {
    const ask = (id: string) => {
      const filled = body && JSON.parse(JSON.stringify(body).replace('ID', id))
      return browser.call(method, path.replace('ID', id), filled ? { body: filled } : {})
    }
    const [foreign, unknown] = [await ask(own!), await ask(none)]
    assert.deepEqual([foreign.status, foreign.body.error_code], [404, 'not_found'], `${method} ${path}`)
    assert.equal(foreign.text, unknown.text)
  }
  const { events } = (await browser.get(`/webhooks/events?subscription_id=${subscription.id}`)).body
  assert.deepEqual(events, [])
  assert.equal((await theirs.api.get(`/webhooks/subscriptions/${subscription.id}`)).body.description, '')
})

// What a browser adds to a request that a page makes; a page cannot change these.
const origin = service.url
const forgeries: [what: string, headers: Record<string, string>][] = [
  ['without the header', { 'x-console': '' }],
  ['with another value of it', { 'x-console': 'true' }],
  ['from another site', { 'sec-fetch-site': 'cross-site' }],
  ['from another host of the site', { 'sec-fetch-site': 'same-site' }],
  ['from nowhere', { 'sec-fetch-site': 'none' }],
  ['from another origin', { origin: 'https://evil.example' }],
  ['from another port', { origin: 'http://127.0.0.1:1' }],
  ['from a page without an origin', { origin: 'null' }],
  ['from the same host by another scheme', { origin: origin.replace('http:', 'https:') }],
  ['from here, but by another site', { origin, 'sec-fetch-site': 'cross-site' }],
]

test('with a cookie, whatever could change something has to come from the console itself', async () => {
  const browser = await signIn(partner, { secret: demoSecret })
  const make = (headers: Record<string, string>) =>
    browser.post('/partner/keys', { name: 'forged', scopes: ['partner:read'] }, { headers })
  const before = (await partner.get('/partner/keys?limit=100')).body.keys.length
  for (const [what, headers] of forgeries) {
    const { status, body } = await make(headers)
    assert.deepEqual([status, body.error_code], [403, 'forbidden'], what)
  }
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
    const path = {
      POST: '/webhooks/events/x/resend',
      PUT: '',
      PATCH: '/webhooks/subscriptions/x',
      DELETE: '/console/session',
    }[method]
    if (path) assert.equal((await browser.call(method, path, { headers: { 'x-console': '' } })).status, 403, method)
  }
  assert.equal((await partner.get('/partner/keys?limit=100')).body.keys.length, before, 'nothing was made')
  assert.equal((await make({ origin, 'sec-fetch-site': 'same-origin' })).status, 201)
  assert.equal((await make({})).status, 201)
  assert.equal((await browser.get('/partner', { headers: { 'x-console': '' } })).status, 200, 'reading needs no header')
  const byKey = { name: 'by key', scopes: ['partner:read'] }
  const elsewhere = { headers: { origin: 'https://evil.example' } }
  assert.equal((await partner.post('/partner/keys', byKey, elsewhere)).status, 201, 'a credential needs none of it')
})

test('no page of another origin can sign a browser in', async () => {
  for (const headers of [{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }]) {
    const reply = await partner.post('/console/session', { secret: demoSecret }, { token: null, headers })
    assert.deepEqual([reply.status, reply.headers.getSetCookie()], [403, []])
  }
  const form = { 'content-type': 'text/plain' }
  const body = JSON.stringify({ secret: demoSecret })
  assert.equal((await partner.post('/console/session', body, { token: null, headers: form })).status, 415)
})

test('behind a proxy the public address counts as the origin', async (t) => {
  const proxied = await startTestService(t, { environment: { PUBLIC_URL: 'https://api.example.com' } })
  const browser = await signIn(proxied.partner, { secret: proxied.demoSecret })
  const ask = (from: string) => browser.post('/console/links', {}, { headers: { origin: from } })
  assert.equal((await ask('https://api.example.com')).status, 201)
  assert.equal((await ask('https://api.example.com.evil.example')).status, 403)
  assert.equal((await ask('http://api.example.com')).status, 403)
})
