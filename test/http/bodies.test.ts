// Bodies that are too large, not JSON, or JSON made to do harm: refused with the right code, and nothing is created.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { type ApiReply, createClient } from '../support/client.ts'
import { rawRequest } from '../support/raw-http.ts'
import { startTestService } from '../support/service.ts'

const service = await startTestService({ after })
const { partner } = service
const authorization = `Bearer ${service.demoSecret}`
const good = JSON.stringify({ name: 'good', scopes: ['partner:read'] })

const post = (body: string | Uint8Array, headers: Record<string, string> = {}): Promise<ApiReply> =>
  partner.call('POST', '/partner/keys', { body, headers })

async function assertRefused(reply: ApiReply, status: number, code: string, why: string): Promise<void> {
  assert.deepEqual([reply.status, reply.body.error_code], [status, code], `${why}: ${reply.text}`)
}

test('what is not JSON is body_parse_error', async () => {
  for (const text of [
    '{',
    '[1,]',
    '{"a":1,}',
    "{'a':1}",
    'nonsense',
    '{"a":NaN}',
    '{"a":01}',
    '"\u0001"',
    `${good}${good}`,
  ]) {
    await assertRefused(await post(text), 400, 'body_parse_error', text)
  }
})

test('bytes that are not UTF-8 are body_parse_error, wherever they stand', async () => {
  for (const bytes of [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf5, 0x80, 0x80, 0x80], [0xe2, 0x82]]) {
    const body = Buffer.concat([
      Buffer.from('{"name":"'),
      Buffer.from(bytes),
      Buffer.from('","scopes":["partner:read"]}'),
    ])
    await assertRefused(await post(body), 400, 'body_parse_error', body.toString('hex'))
  }
  const utf16 = Buffer.from(good, 'utf16le')
  await assertRefused(await post(utf16), 400, 'body_parse_error', 'UTF-16')
})

test('deep nesting is refused before it can hurt', async () => {
  for (const depth of [33, 1_000, 200_000]) {
    await assertRefused(await post('['.repeat(depth) + ']'.repeat(depth)), 400, 'body_parse_error', `${depth} lists`)
    await assertRefused(await post('{"a":'.repeat(depth)), 400, 'body_parse_error', `${depth} unclosed objects`)
  }
  const shallow = await post('['.repeat(32) + ']'.repeat(32))
  await assertRefused(shallow, 400, 'invalid_parameters', '32 levels are read, and then refused for what they hold')
  const brackets = await post(JSON.stringify({ name: '['.repeat(90), scopes: [] }))
  await assertRefused(brackets, 400, 'invalid_parameters', 'brackets inside a text are no nesting')
  assert.match(brackets.body.error_msg, /^scopes/)
})

test('a prototype cannot be smuggled in', async () => {
  for (const text of [
    '{"__proto__":{"scopes":["keys:write"]},"name":"x","scopes":["partner:read"]}',
    '{"name":"x","scopes":["partner:read"],"\\u005f_proto__":null}',
    '{"constructor":{"prototype":{"polluted":true}},"name":"x","scopes":["partner:read"]}',
    '{"name":"x","scopes":[{"__proto__":{"length":1}}]}',
  ]) {
    const reply = await post(text)
    await assertRefused(reply, 400, 'invalid_parameters', text)
    assert.match(reply.body.error_msg, /__proto__|constructor/)
  }
  assert.equal(({} as { polluted?: boolean }).polluted, undefined)
})

test('characters that no database text can hold are refused, naming the field', async () => {
  for (const name of ['\\u0000', 'a\\u0000b', '\\ud800', '\\udc00\\ud800']) {
    const reply = await post(`{"name":"${name}","scopes":["partner:read"]}`)
    await assertRefused(reply, 400, 'invalid_parameters', name)
    assert.match(reply.body.error_msg, /^name /)
  }
})

test('a body without need, or none where one is needed, is told apart', async () => {
  await assertRefused(await partner.call('POST', '/partner/keys'), 400, 'invalid_parameters', 'no body')
  await assertRefused(await post(''), 400, 'invalid_parameters', 'an empty body')
  for (const text of ['null', '[]', '"text"', '7', 'true']) {
    const reply = await post(text)
    await assertRefused(reply, 400, 'invalid_parameters', text)
    assert.match(reply.body.error_msg, /^The body must be an object/)
  }
})

test('only application/json is read, with or without a charset', async () => {
  for (const type of [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/xml',
    'application/jsonp',
    'application/json-patch+json',
    'text/json',
    'json',
    ';',
  ]) {
    await assertRefused(await post(good, { 'content-type': type }), 415, 'unsupported_media_type', type)
  }
  const untyped = await rawRequest(`${service.url}/v1/partner/keys`, {
    method: 'POST',
    headers: { authorization, 'content-length': String(good.length) },
    body: good,
  })
  assert.deepEqual([untyped.status, JSON.parse(untyped.text).error_code], [415, 'unsupported_media_type'])
  for (const type of ['application/json; charset=utf-8', 'application/json;charset=UTF-8', 'Application/JSON']) {
    await assertRefused(await post('{}', { 'content-type': type }), 400, 'invalid_parameters', `${type} is read`)
  }
})

test('a body above 1 MiB is refused, announced or not, and one just below is read', async () => {
  const limit = 1024 * 1024
  await assertRefused(await post(`"${'x'.repeat(limit - 1)}"`), 413, 'payload_too_large', 'one byte too many')
  await assertRefused(await post(`"${'x'.repeat(3 * limit)}"`), 413, 'payload_too_large', 'three times too many')
  await assertRefused(await post(`"${'x'.repeat(limit - 2)}"`), 400, 'invalid_parameters', 'exactly the limit')
  const chunked = await rawRequest(`${service.url}/v1/partner/keys`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json', 'transfer-encoding': 'chunked' },
    body: `"${'x'.repeat(limit)}"`,
  })
  assert.deepEqual([chunked.status, JSON.parse(chunked.text).error_code], [413, 'payload_too_large'])
})

test('who may not call is told so before the body matters', async () => {
  const nobody = createClient(service.url, '/v1')
  for (const body of ['{', '['.repeat(100), 'x'.repeat(100_000)]) {
    assert.equal((await nobody.call('POST', '/partner/keys', { body })).status, 401)
  }
})

test('no refused body has made a key', async () => {
  assert.equal((await partner.get('/partner/keys')).body.keys.length, 1)
})
