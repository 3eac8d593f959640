// Outgoing instructions: checked against the partner's configuration, kept as they were sent, never changed, visible to their
// partner only; and no pattern or value can stall the service.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { demoConfiguration } from '../../src/sandbox/demo-configuration.ts'
import type { ApiClient, ApiReply, Body } from '../support/client.ts'
import { createDatabase } from '../support/database.ts'
import { assertRefused, ok } from '../support/order-states.ts'
import {
  cbuFields,
  createOrder,
  newOrderPartner,
  showOrder,
  untilOrder,
  validCbu,
  withdrawal,
} from '../support/orders.ts'
import { spawnService, startTestService } from '../support/service.ts'

const service = await startTestService({ after })
const text = (key: string, more: object = {}) => ({ key, type: 'string', optional: false, ...more })
const bank = (type: string, ...required_fields: object[]) => ({ type, required_fields, currencies: ['ARS', 'USD'] })
const { api } = await newOrderPartner(service, {
  available_outgoing_fiat_instructions: [
    ...demoConfiguration.available_outgoing_fiat_instructions!,
    bank(
      'measured',
      text('word', { min_length: 3, max_length: 5 }),
      text('note', { optional: true, regex: '^[a-z]+$' }),
    ),
    bank('part', text('value', { regex: 'b' })),
    bank('free'),
  ],
})

const path = '/partner/outgoing-instructions'
const create = (type: string, fields: unknown, more: object = {}, client: ApiClient = api): Promise<ApiReply> =>
  client.post(path, { type, currency: 'ARS', fields, ...more })

async function refusedAt(place: string, reply: Promise<ApiReply>): Promise<void> {
  const sentence = assertRefused(await reply, 400, 'invalid_parameters')
  assert.ok(sentence.startsWith(`${place} `), sentence)
}

test('an instruction is created, shown, listed and deleted, and is what was sent', async () => {
  const before = (await api.get(path)).body.outgoing_instructions
  const fields = { holder_name: 'Añá Lovelace', cbu: validCbu, cuit: '20123456786' }
  const { status, body } = await create('ar_cbu', fields, { label: 'Rent' })
  assert.equal(status, 201)
  const { id, fingerprint, created_at, ...rest } = body
  assert.deepEqual(Object.keys(body), ['id', 'type', 'currency', 'label', 'fields', 'fingerprint', 'created_at'])
  assert.deepEqual(rest, { type: 'ar_cbu', currency: 'ARS', label: 'Rent', fields })
  assert.deepEqual(Object.keys(body.fields), Object.keys(fields))
  assert.match(id, /^oin_[0-9a-z]{26}$/)
  assert.match(fingerprint, /^[0-9a-f]{32}$/)
  assert.match(created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
  assert.deepEqual((await api.get(`${path}/${id}`)).body, body)
  assert.deepEqual((await api.get(path)).body, { outgoing_instructions: [body, ...before], next_cursor: null })

  assert.equal((await api.call('PATCH', `${path}/${id}`, { body: { label: 'x' } })).status, 405)
  assert.equal((await api.delete(`${path}/${id}`)).status, 204)
  for (const reply of [await api.get(`${path}/${id}`), await api.delete(`${path}/${id}`)])
    assertRefused(reply, 404, 'not_found')
  assert.deepEqual((await api.get(path)).body.outgoing_instructions, before)
})

test('the list is read page by page, newest first, and is not disturbed by what is added or deleted meanwhile', async () => {
  const { api: own } = await newOrderPartner(service)
  const made: string[] = []
  for (let i = 0; i < 7; i++) made.unshift((await create('ar_cbu', cbuFields, { label: `${i}` }, own)).body.id)
  const seen: string[] = []
  let cursor = ''
  do {
    const { body } = await ok(own.get(`${path}?limit=3${cursor}`))
    assert.ok(body.outgoing_instructions.length <= 3)
    seen.push(...body.outgoing_instructions.map((each: Body) => each.id))
    await create('ar_cbu', cbuFields, {}, own)
    if (seen.length === 3) await ok(own.delete(`${path}/${seen[0]}`))
    cursor = body.next_cursor === null ? '' : `&cursor=${body.next_cursor}`
  } while (cursor !== '')
  assert.deepEqual(seen.slice(0, 7), made)
  assert.equal(seen.length, 8) // the one that every such partner begins with is the oldest
})

test('every required field must be there, none that is unknown, each a text of the right length', async () => {
  await refusedAt('fields.cbu', create('ar_cbu', { holder_name: 'Ada' }))
  await refusedAt('fields.holder_name', create('ar_cbu', { cbu: validCbu }))
  await refusedAt('fields.surprise', create('ar_cbu', { ...cbuFields, surprise: 'x' }))
  await refusedAt('fields.toString', create('ar_cbu', { ...cbuFields, toString: 'x' }))
  for (const value of [22, null, true, ['x'], { x: 'x' }]) {
    const sentence = assertRefused(await create('ar_cbu', { ...cbuFields, cbu: value }), 400, 'invalid_parameters')
    assert.match(sentence, /^fields\.cbu /)
  }
  for (const fields of [undefined, null, 'x', []]) await refusedAt('fields', create('ar_cbu', fields))
  for (const word of ['', 'ab', 'abcdef']) await refusedAt('fields.word', create('measured', { word }))
  for (const word of ['abc', 'abcde', '€€€', '😀😀😀😀😀']) await ok(create('measured', { word })) // characters, not bytes
  await ok(create('free', {}))
  await refusedAt('fields.x', create('free', { x: '' }))
})

test('a pattern holds for required and optional fields; an optional one may be left out, not empty', async () => {
  await ok(create('measured', { word: 'abc', note: 'fine' }))
  for (const note of ['', 'No', 'no1', 'no\n'])
    await refusedAt('fields.note', create('measured', { word: 'abc', note }))
  await ok(create('part', { value: 'abc' })) // a pattern without anchors is looked for anywhere
  await refusedAt('fields.value', create('part', { value: 'ac' }))
})

test('type, currency and label must be possible', async () => {
  for (const type of ['', 'mx_spei', 'AR_CBU', 'toString']) await refusedAt('type', create(type, cbuFields))
  for (const currency of ['', 'MXN', 'ars', 'XXX'])
    await refusedAt('currency', create('ar_cbu', cbuFields, { currency }))
  await refusedAt('label', create('ar_cbu', cbuFields, { label: 'x'.repeat(201) }))
  await refusedAt('colour', create('ar_cbu', cbuFields, { colour: 'red' }))
  const { api: bare } = await newOrderPartner(service)
  await refusedAt('type', create('measured', { word: 'abc' }, {}, bare)) // what another partner may have
})

test('another partner’s instruction does not exist: not to see, to delete or to pay to', async () => {
  const { id } = (await ok(create('ar_cbu', cbuFields))).body
  const { api: other } = await newOrderPartner(service)
  const missing = await other.get(`${path}/oin_00000000000000000000000000`)
  for (const reply of [await other.get(`${path}/${id}`), await other.delete(`${path}/${id}`)]) {
    assertRefused(reply, 404, 'not_found')
    assert.equal(reply.text, missing.text)
  }
  assert.equal((await api.get(`${path}/${id}`)).status, 200)
  assertRefused(await other.post('/partner/orders', withdrawal(id)), 400, 'invalid_destination')
})

test('with an Idempotency-Key a repetition makes no second instruction, and another body is refused', async () => {
  const { api: own } = await newOrderPartner(service)
  const count = async () => (await own.get(path)).body.outgoing_instructions.length
  const before = await count()
  const send = (label: string) =>
    own.post(
      path,
      { type: 'ar_cbu', currency: 'ARS', label, fields: cbuFields },
      { headers: { 'idempotency-key': 'k' } },
    )
  const replies = await Promise.all(Array.from({ length: 5 }, () => send('one')))
  assert.deepEqual(new Set(replies.map((reply) => `${reply.status} ${reply.body.id}`)).size, 1)
  assert.equal(replies.filter((reply) => reply.headers.get('idempotent-replayed') === 'true').length, 4)
  assertRefused(await send('two'), 409, 'conflict')
  assert.equal(await count(), before + 1)
})

test('the same destination has the same fingerprint: an alias in any case, fields in any order, whatever the label', async () => {
  const fingerprint = async (...given: Parameters<typeof create>) => (await ok(create(...given))).body.fingerprint
  const alias = await fingerprint('ar_alias', { alias: 'Casa.Perro-9', holder_name: 'Ada' })
  assert.equal(await fingerprint('ar_alias', { holder_name: 'Ada', alias: 'cASA.pERRO-9' }, { label: 'x' }), alias)
  assert.notEqual(await fingerprint('ar_alias', { alias: 'casa.perro-8', holder_name: 'Ada' }), alias)
  assert.notEqual(await fingerprint('ar_alias', { alias: 'casa.perro-9', holder_name: 'ADA' }), alias)
  const word = await fingerprint('measured', { word: 'abc' })
  assert.notEqual(await fingerprint('measured', { word: 'abc' }, { currency: 'USD' }), word)
})

// An engine that tries ways one after the other would need 2^9999 steps for this, so that an answer at all is the proof. In a
// process of its own, because one that never answers could not be stopped otherwise.
test('a hostile pattern with a hostile value is answered', async (t) => {
  const database = await createDatabase()
  const apart = await spawnService(database)
  t.after(async () => {
    await apart.kill()
    await database.remove()
  })
  const { api } = await newOrderPartner(apart, {
    withdrawal_fees: [],
    available_outgoing_fiat_instructions: [
      bank('ar_cbu', text('cbu'), text('holder_name')),
      bank('hostile', text('value', { regex: '^(a+)+$' })),
    ],
  })
  const answered = async (reply: Promise<ApiReply>) => {
    const deadline = sleep(60_000, undefined, { ref: false }).then(() => assert.fail('no answer'))
    return Promise.race([reply, deadline])
  }
  await refusedAt('fields.value', answered(create('hostile', { value: `${'a'.repeat(9_999)}!` }, {}, api)))
  await ok(answered(create('hostile', { value: 'a'.repeat(10_000) }, {}, api)))
  await refusedAt('fields.value', answered(create('hostile', { value: 'a'.repeat(10_001) }, {}, api)))
})

test('a pattern that is linear but huge is refused in the configuration, unless its values are short', async () => {
  const put = (regex: string, max_length?: number) =>
    service.operator.post('/partners', {
      name: 'Huge',
      configuration: {
        ...demoConfiguration,
        ...{
          withdrawal_fees: [],
          available_outgoing_fiat_instructions: [bank('x', text('value', { regex, max_length }))],
        },
      },
    })
  const huge = `^${'(a?){1000}'.repeat(10)}$`
  for (const reply of [await put(huge), await put('^[a-z]{1,1000}$'), await put(huge, 200)]) {
    const sentence = assertRefused(reply, 400, 'invalid_parameters')
    assert.match(sentence, /required_fields\[0\]\.regex would take too long/)
  }
  await ok(put('^[a-z]{1,1000}$', 1_000))
  await ok(put('^([A-Za-z]+ ?)+$'))
})

test('of a deleted instruction, what waits cannot be confirmed and stays as it is; what was confirmed is still paid', async () => {
  const partner = await newOrderPartner(service)
  const [waiting, confirmed] = [await createOrder(partner), await createOrder(partner)]
  await ok(partner.api.post(`/partner/orders/${confirmed.id}/confirm`))
  await ok(partner.api.delete(`${path}/${partner.instructionId}`))
  assertRefused(await partner.api.post(`/partner/orders/${waiting.id}/confirm`), 400, 'invalid_destination')
  assert.deepEqual(await showOrder(partner.api, waiting.id), waiting)
  await untilOrder(partner.api, confirmed.id, 'completed')
  const { destination } = (await service.operator.get(`/orders/${confirmed.id}`)).body
  assert.deepEqual(destination, { type: 'ar_cbu', currency: 'ARS', fields: cbuFields })
  assertRefused(
    await partner.api.post('/partner/orders', withdrawal(partner.instructionId)),
    400,
    'invalid_destination',
  )
})
