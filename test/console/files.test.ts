// The built console as it is served: one page for every address of the application, files kept for good, nothing from elsewhere and
// nothing beyond its folder; and what is there to read when it was not built.
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { rawRequest } from '../support/raw-http.ts'
import { startTestService } from '../support/service.ts'

const home = mkdtempSync(join(tmpdir(), 'partner-service-console-'))
after(() => rmSync(home, { recursive: true, force: true }))
const folder = join(home, 'dist')
const script = 'console.log("the application")'
mkdirSync(join(folder, 'assets'), { recursive: true })
writeFileSync(join(home, 'secret.txt'), 'outside of the folder')
writeFileSync(
  join(folder, 'index.html'),
  '<!doctype html><html><head><meta name="console" content="partner" /></head><body>app</body></html>',
)
writeFileSync(join(folder, 'icon.svg'), '<svg/>')
writeFileSync(join(folder, 'assets/app-1a2b3c.js'), script)
writeFileSync(join(folder, 'assets/app-1a2b3c.js.br'), brotliCompressSync(script))
writeFileSync(join(folder, 'assets/app-1a2b3c.js.gz'), gzipSync(script))

const { url, operatorUrl } = await startTestService({ after }, { consoleFolder: folder })
const page = { accept: 'text/html,application/xhtml+xml' }
const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'"

test('every address of the application is the one page, told which listener it is on', async () => {
  for (const [address, listener] of [
    [`${url}/console`, 'partner'],
    [`${url}/console/`, 'partner'],
    [`${url}/console/events/evt_1`, 'partner'],
    [`${url}/console/index.html`, 'partner'],
    [`${operatorUrl}/`, 'operator'],
    [`${operatorUrl}/partners/ptr_1`, 'operator'],
    [`${operatorUrl}/audit-log?partner_id=x`, 'operator'],
  ] as const) {
    const { status, headers, text } = await rawRequest(address, { headers: page })
    assert.equal(status, 200, address)
    assert.match(text, new RegExp(`<meta name="console" content="${listener}"`), address)
    assert.equal(headers['content-type'], 'text/html; charset=utf-8')
    assert.equal(headers['cache-control'], 'no-cache')
    assert.equal(headers['content-security-policy'], policy)
    assert.equal(headers['x-content-type-options'], 'nosniff')
    assert.equal(headers['referrer-policy'], 'no-referrer')
  }
})

test('files named by their content are kept for good, and come compressed to whoever takes that', async () => {
  for (const base of [url, operatorUrl]) {
    const ask = (encoding: string) =>
      fetch(`${base}/console/assets/app-1a2b3c.js`, { headers: { 'accept-encoding': encoding } })
    const plain = await ask('identity')
    assert.deepEqual([plain.status, await plain.text()], [200, script])
    assert.equal(plain.headers.get('cache-control'), 'public, max-age=31536000, immutable')
    assert.equal(plain.headers.get('content-type'), 'text/javascript; charset=utf-8')
    assert.equal(plain.headers.get('content-security-policy'), policy)
    assert.equal(plain.headers.get('vary'), 'accept-encoding')
    for (const [accepted, coding] of [
      ['gzip, deflate, br', 'br'],
      ['gzip', 'gzip'],
      ['br;q=0, gzip', 'gzip'],
      ['deflate', null],
    ] as const) {
      const { headers } = await ask(accepted)
      assert.equal(headers.get('content-encoding'), coding, accepted)
    }
  }
  const icon = await fetch(`${url}/console/icon.svg`)
  assert.equal(icon.headers.get('content-type'), 'image/svg+xml')
  assert.doesNotMatch(icon.headers.get('cache-control')!, /immutable/)
})

test('the page itself comes compressed, too, and is the same', async () => {
  const whole = await rawRequest(`${url}/console`)
  for (const coding of ['br', 'gzip']) {
    const reply = await fetch(`${url}/console`, { headers: { 'accept-encoding': coding } })
    assert.equal(reply.headers.get('content-encoding'), coding)
    assert.equal(await reply.text(), whole.text) // fetch opens it
  }
})

test('what is not a file of the console is not there', async () => {
  for (const path of [
    '/console/assets/none.js',
    '/console/../secret.txt',
    '/console/%2e%2e/secret.txt',
    '/console/..%2fsecret.txt',
    '/console/assets/../../secret.txt',
    '/console//etc/passwd.txt',
    '/console/assets/app-1a2b3c.js.br',
  ]) {
    const { status, text } = await rawRequest(url + path)
    assert.equal(status, 404, path)
    assert.equal(JSON.parse(text).error_code, 'not_found')
  }
  assert.equal((await rawRequest(`${url}/console/events`, { method: 'POST' })).status, 405)
  assert.equal((await rawRequest(`${url}/consoles`, { headers: page })).status, 404)
})

test('on the operator listener the console takes nothing from the API', async () => {
  for (const [method, path, headers, status] of [
    ['GET', '/partners', {}, 404],
    ['GET', '/operator/v1/nothing', page, 404],
    ['GET', '/operator', page, 404],
    ['POST', '/partners', page, 404],
    ['GET', '/none.js', page, 404],
    ['GET', '/operator/v1/partners', page, 401],
    ['GET', '/livez', page, 200],
    ['GET', '/docs', page, 200],
  ] as const) {
    const reply = await rawRequest(operatorUrl + path, { method, headers })
    assert.equal(reply.status, status, `${method} ${path}`)
    assert.doesNotMatch(reply.text, /name="console"/)
  }
  const foreign = await rawRequest(`${operatorUrl}/`, { headers: { ...page, host: 'evil.example' } })
  assert.equal(foreign.status, 403, 'nor is it there under another name')
})

test('without a build, a plain page says how to make one', async (t) => {
  const service = await startTestService(t, { consoleFolder: join(home, 'missing') })
  for (const address of [`${service.url}/console`, `${service.operatorUrl}/`]) {
    const { status, headers, text } = await rawRequest(address, { headers: page })
    assert.equal(status, 503)
    assert.match(text, /has not been built.*npm run/s)
    assert.equal(headers['content-security-policy'], policy)
  }
  assert.equal((await rawRequest(`${service.url}/console/assets/app-1a2b3c.js`)).status, 404)
})

test('a process that only works serves no console', async (t) => {
  const worker = await startTestService(t, { consoleFolder: folder, environment: { ROLE: 'worker' } })
  assert.equal((await rawRequest(`${worker.url}/console`, { headers: page })).status, 404)
  assert.equal((await rawRequest(`${worker.operatorUrl}/`, { headers: page })).status, 404)
})
