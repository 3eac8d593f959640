// The configuration of a partner: written whole, every version kept with who and when, never overwritten unseen.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { demoConfiguration } from '../../src/sandbox/demo-configuration.ts'
import { type Body, createClient } from '../support/client.ts'
import { startTestService } from '../support/service.ts'

const service = await startTestService({ after })
const { operator } = service

async function newPartner(configuration: object = demoConfiguration): Promise<string> {
  const { status, body } = await operator.post('/partners', { name: 'Demo Partner', configuration })
  assert.equal(status, 201, JSON.stringify(body))
  return `/partners/${body.id}`
}

function changed(change: (configuration: Body) => void): Body {
  const configuration = structuredClone(demoConfiguration)
  change(configuration)
  return configuration
}

const accepted: [what: string, configuration: Body][] = [
  [
    'a redemption maximum of 0, which means no cap',
    changed((c) => Object.assign(c.available_investments[0].redemption, { min_amount: '5', max_amount: '0' })),
  ],
  [
    'a redemption maximum of 0.00, which means no cap',
    changed((c) => Object.assign(c.available_investments[0].redemption, { min_amount: '5', max_amount: '0.00' })),
  ],
  [
    'a minimum equal to the maximum, written differently',
    changed((c) => Object.assign(c.available_investments[0].subscription, { min_amount: '10.00', max_amount: '10' })),
  ],
  [
    'a quote asset that the partner does not have',
    changed((c) => Object.assign(c.available_investments[0], { quote_asset: 'ANYTHING-1' })),
  ],
  [
    'an instruction in an ISO 4217 currency without such an asset',
    changed((c) => c.available_outgoing_fiat_instructions[0].currencies.push('EUR', 'JPY', 'KWD')),
  ],
  [
    'an instruction in one of the partner’s own assets',
    changed((c) => c.available_outgoing_fiat_instructions[0].currencies.push('USDC')),
  ],
  ['an empty logo', changed((c) => Object.assign(c, { logo_url: '' }))],
  [
    'a required field with nothing optional said',
    changed((c) =>
      Object.assign(c.available_outgoing_fiat_instructions[0], {
        required_fields: [{ key: 'k', type: 'string', optional: true }],
      }),
    ),
  ],
]

for (const [what, configuration] of accepted) {
  test(`${what} is accepted and read back as written`, async () => {
    const path = await newPartner()
    const written = await operator.put(`${path}/configuration`, configuration)
    assert.deepEqual([written.status, written.body], [200, configuration])
    assert.deepEqual((await operator.get(`${path}/configuration`)).body, configuration)
  })
}

test('every version stays readable, newest first, with who wrote it and when', async () => {
  const path = await newPartner()
  const token = await operator.post('/tokens', { name: 'Ada', roles: ['admin'] })
  const ada = createClient(service.operatorUrl, '/operator/v1', token.body.secret)
  const second = changed((c) => Object.assign(c, { delegation_enabled: true }))
  const third = changed((c) => Object.assign(c, { products: [] }))
  const before = Math.floor(Date.now() / 1_000) * 1_000
  assert.equal((await ada.put(`${path}/configuration`, second)).headers.get('etag'), '"2"')
  assert.equal((await operator.put(`${path}/configuration`, third)).headers.get('etag'), '"3"')

  const { body } = await operator.get(`${path}/configuration/versions`)
  assert.deepEqual(
    body.versions.map((each: Body) => [each.version, each.created_by, each.configuration]),
    [
      [3, 'operator bootstrap (OPERATOR_TOKEN)', third],
      [2, `operator Ada (${token.body.id})`, second],
      [1, 'operator bootstrap (OPERATOR_TOKEN)', demoConfiguration],
    ],
  )
  for (const { created_at } of body.versions.slice(0, 2)) {
    assert.match(created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    assert.ok(Date.parse(created_at) >= before && Date.parse(created_at) <= Date.now())
  }
  assert.equal((await operator.get(path)).body.configuration_version, 3)
})

test('versions are paged without gaps or repeats while new ones are written', async () => {
  const path = await newPartner()
  for (let i = 0; i < 4; i++) await operator.put(`${path}/configuration`, demoConfiguration)
  const seen: number[] = []
  let cursor = ''
  for (;;) {
    const { status, body } = await operator.get(`${path}/configuration/versions?limit=2${cursor}`)
    assert.equal(status, 200)
    seen.push(...body.versions.map((each: Body) => each.version))
    if (body.next_cursor === null) break
    cursor = `&cursor=${body.next_cursor}`
    await operator.put(`${path}/configuration`, demoConfiguration)
  }
  assert.deepEqual(seen, [5, 4, 3, 2, 1])
})

test('a write over a version that is no longer current is refused and changes nothing', async () => {
  const path = await newPartner()
  const { headers } = await operator.get(`${path}/configuration`)
  const ifMatch = { headers: { 'if-match': headers.get('etag')! } }
  const mine = changed((c) => Object.assign(c, { name: 'Mine' }))
  const theirs = changed((c) => Object.assign(c, { name: 'Theirs' }))
  assert.equal((await operator.put(`${path}/configuration`, theirs, ifMatch)).status, 200)
  const late = await operator.put(`${path}/configuration`, mine, ifMatch)
  assert.deepEqual([late.status, late.body.error_code], [409, 'conflict'])
  assert.equal((await operator.get(`${path}/configuration`)).body.name, 'Theirs')
  assert.equal((await operator.get(path)).body.configuration_version, 2)
})

test('of many writers that replace the same version exactly one succeeds', async () => {
  const path = await newPartner()
  const replies = await Promise.all(
    Array.from({ length: 8 }, () =>
      operator.put(`${path}/configuration`, demoConfiguration, { headers: { 'if-match': '"1"' } }),
    ),
  )
  assert.deepEqual(replies.map((each) => each.status).sort(), [200, ...Array(7).fill(409)])
  assert.equal((await operator.get(path)).body.configuration_version, 2)
})

test('an If-Match that is no version is refused', async () => {
  const path = await newPartner()
  for (const bad of ['3', 'W/"1"', '"one"', '"1", "2"', '""']) {
    const { status, body } = await operator.put(`${path}/configuration`, demoConfiguration, {
      headers: { 'if-match': bad },
    })
    assert.deepEqual([status, body.error_code], [400, 'invalid_parameters'], bad)
  }
  assert.equal((await operator.get(path)).body.configuration_version, 1)
})

test('the configuration of an unknown partner is not found, whatever is asked of it', async () => {
  const path = '/partners/ptr_00000000000000000000000000/configuration'
  assert.equal((await operator.get(path)).status, 404)
  assert.equal((await operator.put(path, demoConfiguration)).status, 404)
  assert.equal((await operator.get(`${path}/versions`)).status, 404)
})
