// The publisher's own id: the same again changes nothing, with other content it is a conflict, and of many at once only those fail that
// are wrong themselves. Costs about 4 s on each database.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startEndpoint } from '../support/endpoint.ts'
import { countEvents, one, order, startForPublishers } from '../support/operator-events.ts'
import { newPartner, subscribe } from '../support/partner.ts'

const { service, post } = await startForPublishers()

test('the same id again is answered as before, in whatever form, and nothing is sent twice', async (t) => {
  const endpoint = await startEndpoint(t)
  const partner = await newPartner(service)
  await subscribe(partner.api, endpoint.url)
  const first = await post(one(partner.id, 'again'))
  await subscribe(partner.api, endpoint.url) // what matches later does not change the answer
  const again = await post(one(partner.id, 'again'))
  assert.equal(again.status, 201)
  assert.deepEqual(again.body, first.body)
  const inBatch = await post({ events: [one(partner.id, 'again'), one(partner.id, 'new')] })
  assert.deepEqual(inBatch.body.events[0], first.body)
  assert.equal(inBatch.body.events[1].event_ids.length, 2)
  const spaced = await post(JSON.stringify(one(partner.id, 'again'), null, 2))
  assert.deepEqual(spaced.body, first.body)
  assert.equal(await countEvents(partner.api), 3)
})

test('the same id with other content is a conflict, however small the difference', async () => {
  const partner = await newPartner(service)
  await subscribe(partner.api, 'https://localhost:9/never')
  const text = (order: string, action = 'order-closed') =>
    `{"partner_id":"${partner.id}","id":"differs","action":"${action}","order":{"id":"o","state":"s","operation":"b",${order}}}`
  assert.equal((await post(text('"n":12345678901234567890'))).status, 201)
  for (const other of [
    text('"n":12345678901234567891'),
    text('"n":"12345678901234567890"'),
    text('"n":12345678901234567890,"m":null'),
    text('"n":12345678901234567890', 'order-updated'),
  ]) {
    const { status, body } = await post(other)
    assert.equal(status, 409)
    assert.deepEqual(body, { error_code: 'conflict', error_msg: 'id was used for an event with other content.' })
  }
  const { status, body } = await post({ events: [one(partner.id, 'fresh'), one(partner.id, 'differs')] })
  assert.equal(status, 409)
  assert.equal(body.error_msg, 'events[1].id was used for an event with other content.')
  assert.equal(await countEvents(partner.api), 1, 'of a batch with a conflict nothing is published')
})

test('an id is remembered also when nothing matched', async () => {
  const partner = await newPartner(service)
  const first = await post(one(partner.id, 'nobody'))
  assert.equal(first.status, 201)
  assert.deepEqual(first.body.event_ids, [])
  await subscribe(partner.api, 'https://localhost:9/never')
  assert.deepEqual((await post(one(partner.id, 'nobody'))).body, first.body)
  assert.equal((await post(one(partner.id, 'nobody', { order: { ...order, state: 'cancelled' } }))).status, 409)
  assert.equal(await countEvents(partner.api), 0)
})

test('an id belongs to its partner: another may use the same', async () => {
  const [mine, theirs] = [await newPartner(service), await newPartner(service)]
  const first = await post(one(mine.id, 'shared'))
  const second = await post(one(theirs.id, 'shared', { order: { ...order, state: 'cancelled' } }))
  assert.deepEqual([first.status, second.status], [201, 201])
  assert.notEqual(first.body.publication_id, second.body.publication_id)
})

test('of many at once with the same id one is published and all get the same answer', async () => {
  const partner = await newPartner(service)
  await subscribe(partner.api, 'https://localhost:9/never')
  const replies = await Promise.all(
    Array.from({ length: 40 }, (_, i) =>
      i % 4 === 0 ? post({ events: [one(partner.id, 'race')] }) : post(one(partner.id, 'race')),
    ),
  )
  const answers = replies.map(({ status, text, body }) => {
    assert.equal(status, 201, text)
    return JSON.stringify(body.events?.[0] ?? body)
  })
  assert.equal(new Set(answers).size, 1)
  assert.equal(await countEvents(partner.api), 1)
})

test('of 500 at once only those fail that are wrong themselves', async () => {
  const partner = await newPartner(service)
  await subscribe(partner.api, 'https://localhost:9/never')
  await post(one(partner.id, 'taken'))
  const expected = (i: number) => (i % 10 === 3 ? 409 : i % 10 === 7 ? 404 : i % 50 === 5 ? 400 : 201)
  const replies = await Promise.all(
    Array.from({ length: 500 }, (_, i) => {
      const wanted = expected(i)
      if (wanted === 409) return post(one(partner.id, 'taken', { order: { ...order, id: `o-${i}` } }))
      if (wanted === 404) return post(one('ptr_unknown', `load-${i}`))
      if (wanted === 400) return post(one(partner.id, `load-${i}`, { order: { id: 'x' } }))
      return post(one(partner.id, `load-${i}`))
    }),
  )
  assert.deepEqual(
    replies.map(({ status }) => status),
    replies.map((_, i) => expected(i)),
  )
  const ids = replies.filter(({ status }) => status === 201).flatMap(({ body }) => body.event_ids)
  assert.equal(new Set(ids).size, replies.filter((_, i) => expected(i) === 201).length)
  const unknown = replies.find(({ status }) => status === 404)!
  assert.deepEqual(unknown.body, { error_code: 'not_found', error_msg: 'partner_id names no partner.' })
})
