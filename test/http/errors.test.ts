// Every error code that this part of the service can answer with, each provoked once: right status, exactly {error_code,
// error_msg}, and a request id.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { pino } from 'pino'
import { parseConfig } from '../../src/config.ts'
import { openDatabase } from '../../src/db/open.ts'
import { type ErrorCode, errorTable } from '../../src/errors.ts'
import { startService } from '../../src/service.ts'
import { type ApiReply, createClient } from '../support/client.ts'
import { createDatabase, databaseKind } from '../support/database.ts'
import { startTestService } from '../support/service.ts'

const service = await startTestService({ after })
const limited = await startTestService({ after }, { environment: { RATE_LIMIT: '1:1' } })
const { partner, operator } = service
const newKey = { name: 'k', scopes: ['partner:read'] }

const examples: Partial<Record<ErrorCode, () => Promise<ApiReply>>> = {
  body_parse_error: () => partner.post('/partner/keys', '{"name":'),
  invalid_parameters: () => partner.post('/partner/keys', {}),
  auth_required: () => partner.get('/partner', { token: null }),
  forbidden: () => partner.post('/partner/keys', { ...newKey, allowed_cidrs: ['10.0.0.1'] }).then(forbiddenFrom),
  not_found: () => partner.delete('/partner/keys/key_00000000000000000000000000'),
  method_not_allowed: () => partner.call('PATCH', '/partner'),
  conflict: () =>
    operator.put(`/partners/${service.demoPartnerId}/configuration`, empty, { headers: { 'if-match': '"9"' } }),
  payload_too_large: () => partner.post('/partner/keys', `"${'x'.repeat(1024 * 1024)}"`),
  unsupported_media_type: () => partner.post('/partner/keys', 'a=1', { headers: { 'content-type': 'text/plain' } }),
  too_many_requests: untilTooMany,
  internal_error: () => behindBrokenDatabase('22012'),
  // Only PostgreSQL can be away; the embedded database is part of the process.
  ...(databaseKind === 'postgres' ? { service_unavailable: () => behindBrokenDatabase('57P03') } : {}),
}

for (const [code, provoke] of Object.entries(examples) as [ErrorCode, () => Promise<ApiReply>][]) {
  test(`${code} is ${errorTable[code].status} with a code, a sentence and nothing else`, async () => {
    const { status, body, headers } = await provoke()
    assert.deepEqual([status, body.error_code], [errorTable[code].status, code], JSON.stringify(body))
    assert.deepEqual(Object.keys(body), ['error_code', 'error_msg'])
    assert.match(body.error_msg, /^\S.*\.$/)
    assert.match(headers.get('content-type')!, /^application\/json; charset=utf-8$/)
    assert.ok(headers.get('x-request-id'))
    if (status === 429 || status === 503) assert.match(headers.get('retry-after')!, /^[1-9]\d*$/)
    if (status === 405) assert.equal(headers.get('allow'), 'GET, HEAD')
  })
}

test('every code of this part has its example', () => {
  const ofLaterParts = ['invalid_event_state', 'invalid_order_state', 'insufficient_funds', 'invalid_destination']
  const elsewhere = databaseKind === 'postgres' ? [] : ['service_unavailable']
  assert.deepEqual([...Object.keys(examples), ...ofLaterParts, ...elsewhere].sort(), Object.keys(errorTable).sort())
})

test('none of these errors changed anything', async () => {
  const { keys } = (await partner.get('/partner/keys')).body
  assert.deepEqual(keys.map((key: { name: string }) => key.name).sort(), ['demo', 'k'])
  assert.equal((await operator.get(`/partners/${service.demoPartnerId}`)).body.configuration_version, 1)
})

const empty = {
  name: 'Empty',
  logo_url: '',
  kyc_mode: 'no_kyc',
  available_assets: [],
  available_investments: [],
  products: [],
  delegation_enabled: false,
}

// The key just made may only be used from elsewhere.
function forbiddenFrom({ body }: ApiReply): Promise<ApiReply> {
  return partner.get('/partner', { token: body.secret })
}

async function untilTooMany(): Promise<ApiReply> {
  for (let i = 0; i < 50; i++) {
    const replies = await Promise.all(Array.from({ length: 20 }, () => limited.partner.get('/partner')))
    const refused = replies.find((reply) => reply.status !== 200)
    if (refused) return refused
  }
  throw new Error('a thousand requests went through')
}

// A real failure of the real database: a trigger refuses one particular name with the error code given.
async function behindBrokenDatabase(sqlState: string): Promise<ApiReply> {
  const database = await createDatabase()
  const result = parseConfig({
    PORT: '0',
    OPERATOR_PORT: '0',
    HOST: '127.0.0.1',
    RATE_LIMIT: 'off',
    ...database.environment,
  })
  assert.ok(result.ok)
  const db = await openDatabase(result.config, pino({ level: 'silent' }))
  await db.query(`create function fail_for_test() returns trigger language plpgsql as $$ begin
    if new.document->>'name' = 'Unlucky' then raise exception 'broken for a test' using errcode = '${sqlState}'; end if;
    return new; end $$`)
  await db.query(
    'create trigger fail before insert on partner_configurations for each row execute function fail_for_test()',
  )
  await db.close()

  const lines: string[] = []
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(line) })
  const broken = await startService(result.config, { log })
  try {
    const client = createClient(broken.operatorUrl, '/operator/v1', broken.operatorToken)
    const configuration = { ...empty, logo_url: 'https://not-for-the-log.example/' }
    const reply = await client.post('/partners', { name: 'Unlucky', configuration })
    assert.equal((await client.get('/partners')).body.partners.length, 1, 'nothing was created')
    assert.equal((await client.post('/partners', { name: 'Lucky' })).status, 201, 'and the service goes on')
    assert.ok(!reply.text.includes('broken for a test'), 'what went wrong inside stays inside')
    if (reply.status === 500) {
      const told = lines.map((line) => JSON.parse(line)).find((line) => line.msg === 'a request failed')
      assert.equal(told.request_id, reply.headers.get('x-request-id'))
      assert.equal(told.error, 'broken for a test')
      assert.ok(!JSON.stringify(lines).includes('not-for-the-log'), 'what was sent is not logged')
    }
    return reply
  } finally {
    await broken.stop()
    await database.remove()
  }
}
