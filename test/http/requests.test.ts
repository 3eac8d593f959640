// Requests as such: addresses and methods that do not exist, parameters that make no sense, request ids, and bytes that are not
// HTTP. Each gets a proper answer, and the service goes on.
import assert from 'node:assert/strict'
import { METHODS } from 'node:http'
import { after, test } from 'node:test'
import { createClient } from '../support/client.ts'
import { rawRequest, sendBytes } from '../support/raw-http.ts'
import { startTestService } from '../support/service.ts'

const service = await startTestService({ after })
const { partner, operator } = service
const versions = `/partners/${service.demoPartnerId}/configuration/versions`

test('an unknown address is 404 with or without a credential, in any method', async () => {
  const open = createClient(service.url, '', service.demoSecret)
  for (const path of [
    '/',
    '/v1',
    '/v1/',
    '/v2/partner',
    '/v1/partner/',
    '/v1//partner',
    '/V1/partner',
    '/v1/partnerx',
    '/favicon.ico',
  ]) {
    for (const method of ['GET', 'POST', 'DELETE']) {
      for (const token of [service.demoSecret, null]) {
        const { status, body } = await open.call(method, path, { token })
        assert.deepEqual([status, body.error_code], [404, 'not_found'], `${method} ${path}`)
      }
    }
  }
})

test('a known address with a method it does not have is 405, and Allow says what it has', async () => {
  const known: [url: string, path: string, allow: string][] = [
    [service.url, '/v1/partner', 'GET, HEAD'],
    [service.url, '/partner', 'GET, HEAD'],
    [service.url, '/v1/partner/keys', 'GET, HEAD, POST'],
    [service.url, '/v1/partner/keys/key_1', 'DELETE'],
    [service.url, '/livez', 'GET, HEAD'],
    [service.operatorUrl, '/operator/v1/partners/ptr_1', 'GET, HEAD, PATCH'],
    [service.operatorUrl, `/operator/v1${versions.replace('/versions', '')}`, 'GET, HEAD, PUT'],
  ]
  for (const [url, path, allow] of known) {
    for (const method of METHODS.filter((each) => each !== 'CONNECT' && !allow.split(', ').includes(each))) {
      const { status, headers, text } = await rawRequest(url + path, { method })
      assert.deepEqual([status, headers.allow], [405, allow], `${method} ${path}`)
      if (method !== 'HEAD') assert.equal(JSON.parse(text).error_code, 'method_not_allowed')
    }
  }
})

test('a limit, cursor or parameter that makes no sense is refused, naming it', async () => {
  const other = Buffer.from('1:ptr_1').toString('base64url') // what another list would give out
  for (const [query, name] of [
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['limit=-1', 'limit'],
    ['limit=1.5', 'limit'],
    ['limit=ten', 'limit'],
    ['limit=', 'limit'],
    ['limit=1&limit=2', 'limit'],
    ['cursor=', 'cursor'],
    ['cursor=x', 'cursor'],
    [`cursor=${'A'.repeat(501)}`, 'cursor'],
    [`cursor=${Buffer.from('2:key').toString('base64url')}`, 'cursor'],
    [`cursor=${Buffer.from('1:\0').toString('base64url')}`, 'cursor'],
    ['cursor=%00', 'cursor'],
    ['page=2', 'page'],
    ['Limit=2', 'Limit'],
    ['__proto__=1', '__proto__'],
  ] as const) {
    for (const reply of [await partner.get(`/partner/keys?${query}`), await operator.get(`${versions}?${query}`)]) {
      assert.deepEqual([reply.status, reply.body.error_code], [400, 'invalid_parameters'], query)
      assert.ok(reply.body.error_msg.startsWith(name), `${query}: ${reply.body.error_msg}`)
    }
  }
  for (const cursor of [other, Buffer.from('1:99999999999').toString('base64url')]) {
    assert.equal((await operator.get(`${versions}?cursor=${cursor}`)).status, 400, 'positions of versions are numbers')
  }
  assert.equal((await operator.get('/audit-log?partner_id=%00')).status, 400)
})

test('an Idempotency-Key that is none is refused and nothing is created', async () => {
  for (const key of ['', 'x'.repeat(256), 'with space', 'tab\there', 'ñ']) {
    const { status, body } = await partner.post(
      '/partner/keys',
      { name: 'never', scopes: ['partner:read'] },
      { headers: { 'idempotency-key': key } },
    )
    assert.deepEqual([status, body.error_code], [400, 'invalid_parameters'], key)
    assert.match(body.error_msg, /^Idempotency-Key /)
  }
  assert.equal((await partner.get('/partner/keys')).body.keys.length, 1)
  const longest = { headers: { 'idempotency-key': 'x'.repeat(255) } }
  assert.equal((await operator.post('/partners', { name: 'Once' }, longest)).status, 201)
})

test('a sane request id is kept, any other is replaced', async () => {
  for (const sane of ['abc', 'A-b_c.d:1', 'x'.repeat(128), '0a1b2c3d-0000-4000-8000-000000000000']) {
    for (const path of ['/partner', '/nowhere', '/partner/keys?limit=0']) {
      const { headers } = await partner.get(path, { headers: { 'x-request-id': sane } })
      assert.equal(headers.get('x-request-id'), sane)
    }
  }
  const seen = new Set<string>()
  for (const odd of ['', ' ', 'x'.repeat(129), 'a b', '<script>', '"', 'ñ', 'a,b', '{"a":1}']) {
    const { headers } = await partner.get('/partner', { headers: { 'x-request-id': odd } })
    assert.match(headers.get('x-request-id')!, /^req_[0-9a-z]{26}$/, odd)
    seen.add(headers.get('x-request-id')!)
  }
  assert.equal(seen.size, 9, 'each is another one')
})

test('an address that cannot be decoded is 400', async () => {
  for (const path of ['/partners/%zz', '/partners/%ff', '/partners/%']) {
    const { status, body } = await operator.get(path)
    assert.deepEqual([status, body.error_code], [400, 'invalid_parameters'], path)
  }
})

test('bytes that are not HTTP get one proper answer and the connection is closed', async () => {
  const host = 'Host: localhost\r\n'
  for (const url of [service.url, service.operatorUrl]) {
    for (const bytes of [
      'garbage\r\n\r\n',
      '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', // the beginning of TLS
      'GET / SPDY/9\r\n\r\n',
      `GET /v1/partner HTTP/1.1\r\n${host}Bad Header: 1\r\n\r\n`,
      `GET /v1/partner HTTP/1.1\r\n${host}X: ${'x'.repeat(100_000)}\r\n\r\n`,
      `POST /v1/partner/keys HTTP/1.1\r\n${host}Content-Length: -1\r\n\r\n`,
      `POST /v1/partner/keys HTTP/1.1\r\n${host}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      `GET /v1/partner HTTP/1.1\r\n${host}Authorization: Bearer a\0b\r\n\r\n`,
    ]) {
      const answer = await sendBytes(url, Buffer.from(bytes, 'latin1'))
      const [head = '', body = ''] = answer.split('\r\n\r\n')
      assert.match(head, /^HTTP\/1\.1 400 /, bytes.slice(0, 60))
      assert.match(head, /^X-Request-Id: req_/im)
      assert.match(head, /^Connection: close/im)
      assert.deepEqual(Object.keys(JSON.parse(body)), ['error_code', 'error_msg'])
      assert.equal(JSON.parse(body).error_code, 'invalid_parameters')
    }
  }
  assert.equal((await partner.get('/partner')).status, 200)
})
