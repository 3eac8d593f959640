// The address guard when a subscription is written: every class of address that is not the public internet, in every spelling
// that a URL can hide it in. Costs about 3 s on each database.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { type Config, parseConfig } from '../../src/config.ts'
import { createTargetGuard } from '../../src/webhooks/target.ts'
import { newPartner } from '../support/partner.ts'
import { startTestService } from '../support/service.ts'

const service = await startTestService(
  { after },
  { environment: { WEBHOOK_ALLOWED_NETWORKS: '10.1.0.0/16,fd00:1::/32' } },
)
const { api } = await newPartner(service)

const create = (url: unknown, events: unknown = ['order-closed']) =>
  api.post('/webhooks/subscriptions', { url, events })

const notPublic = {
  private: ['10.0.0.1', '172.16.0.1', '172.31.255.255', '192.168.1.1', '[fd12::1]', '[fc00::1]'],
  'this network': ['0.0.0.0', '0.1.2.3', '[::]'],
  'link-local': ['169.254.169.254', '[fe80::1]', '[fec0::1]'],
  CGNAT: ['100.64.0.1', '100.127.255.255'],
  multicast: ['224.0.0.1', '239.255.255.255', '[ff02::1]'],
  reserved: ['240.0.0.1', '255.255.255.255', '192.0.0.1', '192.88.99.1', '[100::1]', '[2001:2::1]', '[5f00::1]'],
  documentation: ['192.0.2.1', '198.51.100.1', '203.0.113.1', '[2001:db8::1]', '[3fff::1]'],
  benchmark: ['198.18.0.1', '198.19.255.255'],
  NAT64: ['[64:ff9b::10.0.0.1]', '[64:ff9b::808:808]', '[64:ff9b:1::1]'],
  '6to4 and Teredo': ['[2002:a00:1::1]', '[2001:0:1::1]'],
  'IPv4-mapped and -compatible': ['[::ffff:10.0.0.1]', '[::ffff:a9fe:a9fe]', '[::ffff:8.8.8.8]', '[::10.0.0.1]'],
  'other spellings of 10.0.0.1': [
    '167772161',
    '0xa000001',
    '0x0a.0.0.1',
    '012.0.0.1',
    '10.1',
    '10.0.1',
    '10.0.0.1.',
    '①0.0.0.1',
  ],
  'other spellings of 169.254.169.254': ['2852039166', '0xA9FEA9FE', '0251.0376.0251.0376', '169.254.43518'],
}

for (const [kind, hosts] of Object.entries(notPublic)) {
  test(`an address is refused, and the field named: ${kind}`, async () => {
    for (const host of hosts) {
      const { status, body } = await create(`https://${host}/hook`)
      assert.equal(status, 400, host)
      assert.deepEqual(body, {
        error_code: 'invalid_parameters',
        error_msg: 'url names an address that is not public.',
      })
      const inList = await api.post('/webhooks/subscriptions', {
        subscriptions: [
          { url: 'https://example.com/', events: ['order-closed'] },
          { url: `https://${host}/hook`, events: ['order-closed'] },
        ],
      })
      assert.equal(inList.status, 400)
      assert.match(inList.body.error_msg, /^subscriptions\[1\]\.url names an address/)
    }
    assert.deepEqual(
      (await api.get('/webhooks/subscriptions')).body.subscriptions,
      [],
      'of a list with a bad one nothing is made',
    )
  })
}

test('a URL that is not https, has credentials or a fragment, or is none is refused, and the field named', async () => {
  const cases: [unknown, string][] = [
    ['http://example.com/', 'url must be an https URL.'],
    ['ftp://example.com/', 'url must be an https URL.'],
    ['javascript:alert(1)', 'url must be an https URL.'],
    ['https://user@example.com/', 'url must not contain credentials.'],
    ['https://user:secret@example.com/', 'url must not contain credentials.'],
    ['https://:secret@example.com/', 'url must not contain credentials.'],
    ['https://example.com/#part', 'url must not contain a fragment.'],
    ['https://example.com/#', 'url must not contain a fragment.'],
    ['example.com/hook', 'url is not a valid URL.'],
    ['https://', 'url is not a valid URL.'],
    ['https://exa mple.com/', 'url is not a valid URL.'],
    ['https://example.com:99999/', 'url is not a valid URL.'],
    ['', 'url must NOT have fewer than 1 characters.'],
    [`https://example.com/${'x'.repeat(2_000)}`, 'url must NOT have more than 2000 characters.'],
    [7, 'url must be a string.'],
    [null, 'url must be a string.'],
    [undefined, 'url is required.'],
  ]
  for (const [url, sentence] of cases) {
    const { status, body } = await create(url)
    assert.equal(status, 400, String(url))
    assert.deepEqual(body, { error_code: 'invalid_parameters', error_msg: sentence })
  }
})

test('event types that are unknown, empty or repeated are refused, and the field named', async () => {
  const cases: [unknown, RegExp][] = [
    [undefined, /^events is required\.$/],
    [[], /^events must NOT have fewer than 1 items\.$/],
    ['order-closed', /^events must be an array\.$/],
    [['order-lost'], /^events\[0\] must be one of order-closed, order-updated, /],
    [['order-closed', 'test'], /^events\[1\] must be one of /],
    [['order-closed', 7], /^events\[1\] must be one of /],
    [['order-closed', 'order-closed'], /^events must NOT have duplicate items/],
  ]
  for (const [events, sentence] of cases) {
    const { status, body } = await api.post('/webhooks/subscriptions', { url: 'https://example.com/', events })
    assert.equal(status, 400, JSON.stringify(events))
    assert.equal(body.error_code, 'invalid_parameters')
    assert.match(body.error_msg, sentence)
    const { body: inList } = await api.post('/webhooks/subscriptions', {
      subscriptions: [{ url: 'https://example.com/', events }],
    })
    assert.match(inList.error_msg, new RegExp(`^subscriptions\\[0\\]\\.${sentence.source.slice(1)}`))
  }
})

test('public addresses and names, loopback in a sandbox, and networks that the operator allows are taken', async () => {
  for (const host of [
    'example.com',
    'hooks.example.com:8443',
    'xn--bcher-kva.example',
    'bücher.example',
    '8.8.8.8',
    '172.32.0.1',
    '100.128.0.1',
    '192.0.1.1',
    '[2606:4700::1111]',
    '[2a00:1450::1]',
    'localhost:4000',
    '127.0.0.1:4000',
    '127.9.9.9',
    '2130706433',
    '[::1]:4000',
    '10.1.2.3',
    '[fd00:1::5]',
  ]) {
    const { status, text } = await create(`https://${host}/hook?a=b`)
    assert.equal(status, 201, `${host} ${text}`)
  }
})

test('a change of the URL meets the same guard', async () => {
  const { body: subscription } = await create('https://example.com/')
  for (const url of [
    'http://example.com/',
    'https://192.168.0.1/',
    'https://a@example.com/',
    'https://example.com/#x',
  ]) {
    const { status, body } = await api.patch(`/webhooks/subscriptions/${subscription.id}`, { url })
    assert.equal(status, 400)
    assert.match(body.error_msg, /^url /)
  }
  assert.equal((await api.get(`/webhooks/subscriptions/${subscription.id}`)).body.url, 'https://example.com/')
})

test('production allows neither loopback nor names of the inside, except by name of the network', () => {
  const production = (more: Record<string, string> = {}): Config => {
    const result = parseConfig({
      MODE: 'production',
      DATABASE_URL: 'postgres://localhost/x',
      OPERATOR_TOKEN: 'x'.repeat(24),
      MASTER_KEY: `1:${Buffer.alloc(32).toString('base64')}`,
      ...more,
    })
    assert.ok(result.ok)
    return result.config
  }
  const guard = createTargetGuard(production())
  const inside = [
    '127.0.0.1',
    '[::1]',
    'localhost',
    'LOCALHOST',
    'localhost.',
    'a.localhost',
    'db.internal',
    'printer.local',
  ]
  for (const host of [...inside, ...Object.values(notPublic).flat(), '10.1.2.3']) {
    assert.throws(
      () => guard.checkUrl(`https://${host}/`, 'url'),
      /^Error: url names an? (address|host) that is not public/,
      host,
    )
  }
  for (const host of ['example.com', '8.8.8.8', '[2606:4700::1111]', 'local.example'])
    guard.checkUrl(`https://${host}/`, 'url')
  for (const address of ['127.0.0.1', '::1', '10.0.0.1', '::ffff:10.0.0.1', '::ffff:a00:1', 'fe80::1%eth0', 'x', '']) {
    assert.equal(guard.allowsAddress(address), false, address)
  }
  for (const address of ['8.8.8.8', '2606:4700::1111', '::ffff:8.8.8.8'])
    assert.ok(guard.allowsAddress(address), address)
  const opened = createTargetGuard(production({ WEBHOOK_ALLOWED_NETWORKS: '10.1.0.0/16' }))
  opened.checkUrl('https://10.1.2.3/', 'url')
  assert.equal(opened.allowsAddress('10.1.255.255'), true)
  assert.equal(opened.allowsAddress('10.2.0.0'), false)
})
