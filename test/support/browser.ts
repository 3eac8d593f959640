// A browser's part in a console session: it keeps the cookie that signing in sets and sends it, instead of a credential, with the
// header that the console sends.
import assert from 'node:assert/strict'
import { type ApiClient, type ApiReply, type CallOptions, clientOf } from './client.ts'

export interface Browser extends ApiClient {
  readonly signedIn: ApiReply
  readonly cookie: string // name=token
  readonly token: string
}

export async function signIn(client: ApiClient, body: object, options: CallOptions = {}): Promise<Browser> {
  const path = 'token' in body ? '/session' : '/console/session'
  const reply = await client.post(path, body, { token: null, ...options })
  assert.equal(reply.status, 201, reply.text)
  const cookie = reply.headers.getSetCookie()[0]!.split(';')[0]!
  return { ...withCookie(client, cookie), signedIn: reply, cookie, token: cookie.slice(cookie.indexOf('=') + 1) }
}

// The same client, with a cookie instead of a credential.
export function withCookie(client: ApiClient, cookie: string): ApiClient {
  const call: ApiClient['call'] = (method, path, options = {}) =>
    client.call(method, path, { token: null, ...options, headers: { cookie, 'x-console': '1', ...options.headers } })
  return clientOf(client.url, call)
}

// Name, token and attributes of the one cookie that a reply sets.
export function readSetCookie({ headers }: ApiReply) {
  const cookies = headers.getSetCookie()
  assert.equal(cookies.length, 1)
  const [pair, ...attributes] = cookies[0]!.split('; ')
  const [name, token] = pair!.split('=')
  return { name: name!, token: token!, attributes: attributes.sort() }
}
