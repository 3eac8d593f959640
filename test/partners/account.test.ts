// GET /partner: section 2.1 of the specification, field by field.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startTestService } from '../support/service.ts'

const service = await startTestService({ after })

test('the account has every field of the specification, with its type', async () => {
  const { status, body } = await service.partner.get('/partner')
  assert.equal(status, 200)
  assert.deepEqual(Object.keys(body), [
    'name',
    'logo_url',
    'kyc_mode',
    'available_assets',
    'available_investments',
    'products',
    'available_incoming_fiat_instructions',
    'available_outgoing_fiat_instructions',
    'delegation_enabled',
  ])
})
