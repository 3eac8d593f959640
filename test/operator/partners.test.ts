// Partners through the operator API: created, listed, shown, suspended; each step told in the audit log.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { Body } from '../support/client.ts'
import { startTestService } from '../support/service.ts'

const service = await startTestService({ after })
const { operator } = service
const nobody = '/partners/ptr_00000000000000000000000000'

test('a partner is created with an empty configuration and can be shown at once', async () => {
  const { status, body } = await operator.post('/partners', { name: 'Ñandú Pagos' })
  assert.equal(status, 201)
  assert.match(body.id, /^ptr_[0-9a-z]{26}$/)
  assert.match(body.created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
  const { id, created_at, ...rest } = body
  assert.deepEqual(rest, { name: 'Ñandú Pagos', state: 'active', configuration_version: 1 })
  assert.deepEqual((await operator.get(`/partners/${id}`)).body, body)
  assert.deepEqual((await operator.get(`/partners/${id}/configuration`)).body, {
    name: 'Ñandú Pagos',
    logo_url: '',
    kyc_mode: 'no_kyc',
    available_assets: [],
    available_investments: [],
    products: [],
    delegation_enabled: false,
  })
})

test('a partner that cannot be is refused, naming the field, and is not created', async () => {
  const count = async () => (await operator.get('/partners?limit=100')).body.partners.length
  const before = await count()
  for (const [wanted, place] of [
    [{}, 'name'],
    [{ name: '' }, 'name'],
    [{ name: 5 }, 'name'],
    [{ name: 'x'.repeat(201) }, 'name'],
    [{ name: 'nul\u0000' }, 'name'],
    [{ name: 'half \ud800' }, 'name'],
    [{ name: 'ok', state: 'suspended' }, 'state'],
    [{ name: 'ok', configuration: {} }, 'configuration.'],
    [[], 'The body'],
    ['text', 'The body'],
    [null, 'The body'],
  ] as const) {
    const { status, body } = await operator.post('/partners', JSON.stringify(wanted))
    assert.deepEqual([status, body.error_code], [400, 'invalid_parameters'], JSON.stringify(wanted))
    assert.ok(body.error_msg.startsWith(place), body.error_msg)
  }
  assert.equal(await count(), before)
})

test('a name the database cannot hold is refused in a configuration too, and the list goes on working', async () => {
  const { body: created } = await operator.post('/partners', { name: 'Sound' })
  const path = `/partners/${created.id}/configuration`
  const { body: configuration } = await operator.get(path)
  for (const name of ['nul\u0000', 'half \udc00']) {
    const { status, body } = await operator.put(path, JSON.stringify({ ...configuration, name }))
    assert.deepEqual([status, body.error_code], [400, 'invalid_parameters'])
  }
  assert.equal((await operator.get(`/partners/${created.id}`)).body.name, 'Sound')
  assert.equal((await operator.get('/partners')).status, 200)
})

test('partners are listed newest first, in pages that neither repeat nor skip while others are added', async () => {
  const names = ['one', 'two', 'three', 'four', 'five']
  for (const name of names) await operator.post('/partners', { name })
  const all: Body[] = (await operator.get('/partners?limit=100')).body.partners
  assert.deepEqual(
    all.map((each) => each.id),
    all
      .map((each) => each.id)
      .sort()
      .reverse(),
  )
  const seen: Body[] = []
  let cursor: string | null = ''
  while (cursor !== null) {
    const { body }: { body: Body } = await operator.get(`/partners?limit=2${cursor && `&cursor=${cursor}`}`)
    assert.ok(body.partners.length <= 2)
    seen.push(...body.partners)
    cursor = body.next_cursor
    await operator.post('/partners', { name: 'added meanwhile' })
  }
  assert.deepEqual(seen, all)
})

test('the last page has no cursor, also when it is exactly full', async () => {
  const { partners } = (await operator.get('/partners?limit=100')).body
  const { body } = await operator.get(`/partners?limit=${partners.length}`)
  assert.deepEqual([body.partners.length, body.next_cursor], [partners.length, null])
})

test('suspending and activating are noted once each, however often they are asked for', async () => {
  const { body: created } = await operator.post('/partners', { name: 'Paused' })
  const path = `/partners/${created.id}`
  for (const state of ['suspended', 'suspended', 'active', 'active']) {
    const { status, body } = await operator.patch(path, { state })
    assert.deepEqual([status, body], [200, { ...created, state }])
    assert.equal((await operator.get(path)).body.state, state)
  }
  const { entries } = (await operator.get(`/audit-log?partner_id=${created.id}`)).body
  assert.deepEqual(entries.map((each: Body) => each.action).sort(), [
    'partner.activated',
    'partner.created',
    'partner.suspended',
  ])
})

test('a state that does not exist is refused and changes nothing', async () => {
  const path = `/partners/${service.demoPartnerId}`
  for (const wanted of [{ state: 'deleted' }, { state: null }, {}, { state: 'suspended', name: 'New' }]) {
    assert.equal((await operator.patch(path, wanted)).status, 400, JSON.stringify(wanted))
  }
  assert.equal((await operator.get(path)).body.state, 'active')
})

test('an unknown partner is not found, whatever is asked of it', async () => {
  for (const reply of [
    await operator.get(nobody),
    await operator.patch(nobody, { state: 'suspended' }),
    await operator.get(`${nobody}/keys`),
    await operator.post(`${nobody}/keys`, { name: 'k', scopes: ['partner:read'] }),
    await operator.delete(`${nobody}/keys/key_00000000000000000000000000`),
  ]) {
    assert.deepEqual([reply.status, reply.body.error_code], [404, 'not_found'])
  }
})

test('ids that no id could be are refused, never an error of the service', async () => {
  for (const id of ['%00', 'a%00b', 'x'.repeat(101), 'x'.repeat(3_000)]) {
    const { status, body } = await operator.get(`/partners/${id}`)
    assert.deepEqual([status, body.error_code], [400, 'invalid_parameters'], id.slice(0, 20))
  }
  assert.equal((await operator.get(`/partners/${encodeURIComponent("' or 1=1 --")}`)).status, 404)
})
