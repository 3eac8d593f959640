// The operator listener is a place of its own: only under its own names, none of its routes on the partner side or the other way
// round, and both tell how they are.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { rawRequest, sendBytes } from '../support/raw-http.ts'
import { startTestService } from '../support/service.ts'

const service = await startTestService({ after }, { environment: { OPERATOR_ALLOWED_HOSTS: 'Ops.example.com, other' } })
const { port } = new URL(service.operatorUrl)

async function askedAs(host: string, path = '/operator/v1/partners') {
  const headers = { host, authorization: `Bearer ${service.operatorToken}` }
  const { status, text } = await rawRequest(service.operatorUrl + path, { headers })
  return { status, text }
}

test('a request for the operator listener under its own names is answered', async () => {
  for (const name of ['localhost', '127.0.0.1', '[::1]', 'LOCALHOST', 'ops.example.com', 'OPS.example.com', 'other']) {
    for (const host of [name, `${name}:${port}`, `${name}:443`]) {
      assert.equal((await askedAs(host)).status, 200, host)
    }
  }
})

test('a request under any other name is refused, whatever it asks for and with whatever token', async () => {
  for (const host of [
    'evil.example',
    `evil.example:${port}`,
    'localhost.evil.example',
    'evil-localhost',
    '127.0.0.1.nip.io',
  ]) {
    for (const path of ['/operator/v1/partners', '/metrics', '/livez', '/docs', '/nothing']) {
      const { status, text } = await askedAs(host, path)
      assert.equal(status, 403, `${host} ${path}`)
      assert.equal(JSON.parse(text).error_code, 'forbidden')
    }
  }
})

test('a request that names no host at all is refused', async () => {
  const head = `GET /operator/v1/partners HTTP/1.0\r\nAuthorization: Bearer ${service.operatorToken}\r\n`
  for (const request of [`${head}\r\n`, `${head}Host:\r\n\r\n`]) {
    assert.match(await sendBytes(service.operatorUrl, request), /^HTTP\/1\.1 403 /)
  }
})

test('a forwarded host does not stand in for the real one', async () => {
  const { status } = await rawRequest(`${service.operatorUrl}/operator/v1/partners`, {
    headers: {
      host: 'evil.example',
      'x-forwarded-host': 'localhost',
      authorization: `Bearer ${service.operatorToken}`,
    },
  })
  assert.equal(status, 403)
})

test('partners may use any name: the check is the operator listener’s alone', async () => {
  const headers = { host: 'api.partner.example', authorization: `Bearer ${service.demoSecret}` }
  assert.equal((await rawRequest(`${service.url}/v1/partner`, { headers })).status, 200)
})

test('no operator route exists on the partner listener, nor a partner route on the operator’s', async () => {
  const both = { authorization: `Bearer ${service.operatorToken}` }
  const operatorPaths = ['/partners', `/partners/${service.demoPartnerId}`, '/tokens', '/audit-log', '/metrics']
  for (const path of operatorPaths) {
    for (const prefix of ['/operator/v1', '/v1/operator/v1', '/v1', '']) {
      const { status } = await rawRequest(service.url + prefix + path, { headers: both })
      assert.equal(status, 404, `${prefix}${path} on the partner listener`)
    }
    assert.equal((await rawRequest(`${service.operatorUrl}/operator/v1${path}`, { headers: both })).status, 200, path)
  }
  for (const path of ['/v1/partner', '/partner', '/v1/partner/keys', '/operator/v1/partner', '/partners', '/tokens']) {
    const headers = { authorization: `Bearer ${service.demoSecret}` }
    assert.equal((await rawRequest(service.operatorUrl + path, { headers })).status, 404, `${path} on the operator's`)
  }
})

test('metrics are at both places of the operator listener, and count what was asked', async () => {
  await service.partner.get('/partner')
  const open = await rawRequest(`${service.operatorUrl}/metrics`)
  const guarded = await service.operator.get('/metrics')
  for (const [status, type, text] of [
    [open.status, open.headers['content-type'], open.text],
    [guarded.status, guarded.headers.get('content-type'), guarded.text],
  ] as const) {
    assert.equal(status, 200)
    assert.match(String(type), /^text\/plain; version=0\.0\.4/)
    assert.match(
      text,
      /^http_request_seconds_count\{listener="partner",method="GET",route="\/v1\/partner",status="200"\} \d+$/m,
    )
    assert.match(text, /^partner_service_info\{version="\d[^"]*"\} 1$/m)
    for (const line of text.trim().split('\n')) assert.match(line, /^(# (HELP|TYPE) \w+ .+|\w+(\{.*\})? [0-9.e+-]+)$/)
  }
  assert.equal((await service.operator.get('/metrics', { token: null })).status, 401)
})

test('made-up paths do not grow the metrics: they share one label', async () => {
  for (let i = 0; i < 5; i++) await service.operator.get(`/made-up-${i}`)
  const { text } = await rawRequest(`${service.operatorUrl}/metrics`)
  assert.ok(!text.includes('made-up'))
})

test('both listeners say that they live, are ready, and what their API looks like', async () => {
  for (const url of [service.url, service.operatorUrl]) {
    for (const path of ['/livez', '/readyz']) {
      const { status, text } = await rawRequest(url + path)
      assert.deepEqual([status, JSON.parse(text)], [200, { status: 'ok' }])
    }
    const { text } = await rawRequest(`${url}/openapi.json`)
    assert.equal(JSON.parse(text).openapi, '3.1.0')
    const { headers } = await rawRequest(`${url}/docs`)
    assert.match(String(headers['content-type']), /^text\/html/)
  }
})
