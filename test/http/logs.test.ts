// The logs: one line a request, with its id and without anything that was sent: no header, no secret, no body, no query.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { pino } from 'pino'
import { parseConfig } from '../../src/config.ts'
import { startService } from '../../src/service.ts'
import { type Body, createClient } from '../support/client.ts'
import { createDatabase } from '../support/database.ts'
import { sendBytes } from '../support/raw-http.ts'

const database = await createDatabase()
const lines: string[] = []
const result = parseConfig({ PORT: '0', OPERATOR_PORT: '0', HOST: '127.0.0.1', ...database.environment })
assert.ok(result.ok)
const service = await startService(result.config, {
  log: pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) }),
})
after(async () => {
  await service.stop()
  await database.remove()
})
const partner = createClient(service.url, '/v1', service.demo!.secret)
const operator = createClient(service.operatorUrl, '/operator/v1', service.operatorToken)

// A line is written when the answer has gone out, which can be a moment after it arrived.
async function lineOf(requestId: string): Promise<Body> {
  for (let i = 0; i < 500; i++) {
    const found = lines.map((line) => JSON.parse(line)).find((line) => line.request_id === requestId)
    if (found) return found
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error(`no line tells of ${requestId}`)
}

test('each request leaves one line that says what was asked, how it ended and who to ask about', async () => {
  for (const [client, method, path, expected] of [
    [partner, 'GET', '/partner', { listener: 'partner', route: '/v1/partner', status: 200 }],
    [partner, 'DELETE', '/partner/keys/key_1', { listener: 'partner', route: '/v1/partner/keys/:key_id', status: 404 }],
    [partner, 'GET', '/nowhere', { listener: 'partner', route: 'none', status: 404 }],
    [operator, 'GET', '/partners', { listener: 'operator', route: '/operator/v1/partners', status: 200 }],
  ] as const) {
    const requestId = `log-${method}-${path.replaceAll('/', '-')}`
    await client.call(method, path, { headers: { 'x-request-id': requestId } })
    const line = await lineOf(requestId)
    assert.deepEqual(
      { ...line, time: 0, ms: 0, pid: 0, hostname: '' },
      {
        level: 30,
        time: 0,
        pid: 0,
        hostname: '',
        request_id: requestId,
        method,
        ...expected,
        ms: 0,
        address: '127.0.0.1',
        msg: 'request',
      },
    )
    assert.equal(lines.filter((each) => each.includes(requestId)).length, 1)
  }
})

test('no secret, header, body or query is in any line at any level, however the request ended', async () => {
  const created = await operator.post(`/partners/${service.demo!.partnerId}/keys`, {
    name: 'marker-in-a-body',
    scopes: ['partner:read', 'keys:write'],
  })
  const token = await operator.post('/tokens', { name: 'marker-in-a-name', roles: ['read'] })
  const byKey = createClient(service.url, '/v1', created.body.secret)
  const own = await byKey.post('/partner/keys', { name: 'marker-in-a-body', scopes: ['partner:read'] })
  assert.deepEqual([created.status, token.status, own.status], [201, 201, 201])
  await byKey.get('/partner', { headers: { 'x-marker': 'marker-in-a-header', cookie: 'marker-in-a-cookie' } })
  await byKey.get('/partner', { token: 'marker-in-a-credential' })
  await byKey.get('/partner', { token: null, headers: { authorization: 'Basic marker-in-a-basic' } })
  await byKey.get('/partner/keys?marker-in-a-query=1')
  await byKey.get('/marker-in-a-path')
  await byKey.post('/partner/keys', '{"marker-in-a-broken-body')
  await byKey.post('/partner/keys', 'marker-in-a-text', { headers: { 'content-type': 'text/plain' } })
  await operator.get('/partners/%zz-marker-in-a-path')
  await sendBytes(service.url, 'marker-in-garbage\r\n\r\n')
  await sendBytes(service.url, 'GET / HTTP/1.1\r\nAuthorization: Bearer marker-in-garbage\r\nBad Header:\r\n\r\n')
  await byKey.delete(`/partner/keys/${created.body.id}`, { headers: { 'x-request-id': 'the-last-one' } })
  await lineOf('the-last-one')

  const all = lines.join('')
  assert.ok(lines.length > 10)
  assert.deepEqual(
    lines.filter((line) => line.includes('marker')),
    [],
  )
  assert.ok(!/authorization|bearer|cookie/i.test(all))
  const secrets: string[] = [
    service.demo!.secret,
    service.operatorToken,
    created.body.secret,
    token.body.secret,
    own.body.secret,
  ]
  for (const secret of secrets) assert.ok(!all.includes(secret) && !all.includes(secret.slice(-20)))
})
