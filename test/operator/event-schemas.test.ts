// POST /operator/v1/events refuses what is not an event of its type, and names what is wrong. Costs about 3 s on each database.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { actions, catalogue } from '../../src/webhooks/catalogue.ts'
import { one, order, startForPublishers } from '../support/operator-events.ts'

const { service, post } = await startForPublishers()

const requiredMembers = {
  order: ['id', 'state', 'operation'],
  partner_order: [
    'id',
    'state',
    'reference_id',
    'operation',
    'created_at',
    'processed_at',
    'last_updated_at',
    'settlement',
  ],
  customer: ['id', 'state'],
  requirement: ['type', 'reason'],
  incoming_funds: ['customer_id', 'currency', 'amount', 'network', 'address', 'transaction_hash'],
}

for (const action of actions) {
  test(`${action}: every required member that is missing is named`, async () => {
    const example: Record<string, Record<string, unknown>> = catalogue[action].example
    const base = { partner_id: service.demoPartnerId, id: 'wrong', action }
    for (const [entity, value] of Object.entries(example)) {
      const { [entity]: _, ...without } = example
      const missing = await post({ ...base, ...without })
      assert.equal(missing.status, 400)
      assert.deepEqual(missing.body, { error_code: 'invalid_parameters', error_msg: `${entity} is required.` })
      for (const member of requiredMembers[entity as keyof typeof requiredMembers]) {
        const { [member]: _, ...rest } = value
        const { status, body } = await post({ ...base, ...example, [entity]: rest })
        assert.equal(status, 400)
        assert.deepEqual(body, { error_code: 'invalid_parameters', error_msg: `${entity}.${member} is required.` })
        const inBatch = await post({ events: [{ ...base, ...example, [entity]: rest }] })
        assert.equal(inBatch.body.error_msg, `events[0].${entity}.${member} is required.`)
      }
    }
    const stranger = action.startsWith('customer') ? 'order' : 'customer'
    const extra = await post({ ...base, ...example, [stranger]: { id: 'x', state: 'y', operation: 'z' } })
    assert.equal(extra.body.error_msg, `${stranger} is not a known field.`)
  })
}

test('what is wrong outside of the entity is named too', async () => {
  const partner_id = service.demoPartnerId
  const cases: [unknown, RegExp][] = [
    [{ id: 'x', action: 'order-closed', order }, /^partner_id is required/],
    [{ partner_id, action: 'order-closed', order }, /^id is required/],
    [{ partner_id, id: '', action: 'order-closed', order }, /^id does not have the right form/],
    [{ partner_id, id: 'with space', action: 'order-closed', order }, /^id does not have the right form/],
    [{ partner_id, id: 'x', order }, /^action is required/],
    [{ partner_id, id: 'x', action: 'order-lost', order }, /^action must be one of order-closed, /],
    [{ partner_id, id: 'x', action: 'order-closed', order: 'o' }, /^order must be an object/],
    [{ partner_id, id: 'x', action: 'order-closed', order: { ...order, id: 7 } }, /^order\.id must be a string/],
    [{ partner_id, id: 'x', action: 'order-closed', order, more: 1 }, /^more is not a known field/],
    [{ events: [] }, /^events must NOT have fewer than 1 items/],
    [{ events: [{ partner_id, id: 'x', action: 'order-closed' }] }, /^events\[0\]\.order is required/],
    [{ events: [one(partner_id, 'ok'), { id: 'x' }] }, /^events\[1\]\.partner_id is required/],
    [
      {
        partner_id,
        id: 'x',
        action: 'incoming-funds',
        incoming_funds: { ...catalogue['incoming-funds'].example.incoming_funds, amount: '1,5' },
      },
      /^incoming_funds\.amount does not have the right form/,
    ],
  ]
  for (const [given, sentence] of cases) {
    const { status, body } = await post(given)
    assert.equal(status, 400, JSON.stringify(given))
    assert.equal(body.error_code, 'invalid_parameters')
    assert.match(body.error_msg, sentence)
  }
})
