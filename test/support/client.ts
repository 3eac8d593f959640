// An HTTP client for tests that holds every reply against the service's own OpenAPI document: a reply that the document does
// not describe fails the test that caused it.
import assert from 'node:assert/strict'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'

// biome-ignore lint/suspicious/noExplicitAny: tests look into replies of every shape
export type Body = any

export interface ApiReply {
  readonly status: number
  readonly headers: Headers
  readonly body: Body
  readonly text: string
}

export interface CallOptions {
  readonly body?: unknown // JSON, unless it is text or bytes already
  readonly headers?: Record<string, string>
  readonly token?: string | null // null: no Authorization header
}

export interface ApiClient {
  readonly url: string
  call(method: string, path: string, options?: CallOptions): Promise<ApiReply>
  get(path: string, options?: CallOptions): Promise<ApiReply>
  post(path: string, body?: unknown, options?: CallOptions): Promise<ApiReply>
  put(path: string, body?: unknown, options?: CallOptions): Promise<ApiReply>
  patch(path: string, body?: unknown, options?: CallOptions): Promise<ApiReply>
  delete(path: string, options?: CallOptions): Promise<ApiReply>
}

export function createClient(url: string, prefix: string, token?: string): ApiClient {
  let contract: Promise<Contract> | undefined
  const call: ApiClient['call'] = async (method, path, options = {}) => {
    contract ??= readContract(url)
    const bearer = options.token === undefined ? token : options.token
    const raw = typeof options.body === 'string' || options.body instanceof Uint8Array
    const response = await fetch(url + prefix + path, {
      method,
      redirect: 'manual',
      headers: {
        ...(bearer ? { authorization: `Bearer ${bearer}` } : {}),
        ...(options.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...options.headers,
      },
      ...(options.body === undefined ? {} : { body: (raw ? options.body : JSON.stringify(options.body)) as string }),
    })
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.startsWith('application/json')
    const body = isJson && text !== '' ? JSON.parse(text) : undefined
    assert.ok(response.headers.get('x-request-id'), 'every reply carries X-Request-Id')
    if (method !== 'HEAD') (await contract)(method, path, response, body)
    return { status: response.status, headers: response.headers, body, text }
  }
  return clientOf(url, call)
}

export function clientOf(url: string, call: ApiClient['call']): ApiClient {
  return {
    url,
    call,
    get: (path, options) => call('GET', path, options),
    post: (path, body, options) => call('POST', path, { ...options, body }),
    put: (path, body, options) => call('PUT', path, { ...options, body }),
    patch: (path, body, options) => call('PATCH', path, { ...options, body }),
    delete: (path, options) => call('DELETE', path, options),
  }
}

type Contract = (method: string, path: string, response: Response, body: unknown) => void

async function readContract(url: string): Promise<Contract> {
  const document = (await (await fetch(`${url}/openapi.json`)).json()) as Body
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  ajv.addSchema(document, 'openapi')
  const checks = new Map<string, ValidateFunction>()
  const paths = Object.keys(document.paths).map((path) => ({
    path,
    pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`),
  }))
  const errorCheck = ajv.compile({ $ref: 'openapi#/components/schemas/Error' })

  return (method, path, { status, headers }, body) => {
    if (status >= 400) {
      assert.ok(errorCheck(body), `an error body is {error_code, error_msg}: ${JSON.stringify(body)}`)
    }
    const found = paths.find(({ pattern }) => pattern.test(path.split('?')[0]!))
    const operation = found && document.paths[found.path][method.toLowerCase()]
    if (!operation) return
    const response = operation.responses[status]
    assert.ok(response, `${method} ${found.path} answered ${status}, which the OpenAPI document does not list`)
    const type = headers.get('content-type')?.split(';')[0] ?? ''
    if (type !== 'application/json' && response.content?.[type]) return
    const schema = response.content?.['application/json']?.schema
    if (!schema) return
    const name = `${method} ${found.path} ${status}`
    if (!checks.has(name)) {
      const pointer = `${found.path.replaceAll('~', '~0').replaceAll('/', '~1')}/${method.toLowerCase()}/responses/${status}`
      checks.set(name, ajv.compile({ $ref: `openapi#/paths/${encodeURI(pointer)}/content/application~1json/schema` }))
    }
    const check = checks.get(name)!
    assert.ok(check(body), `${name} does not fit its schema: ${ajv.errorsText(check.errors)}\n${JSON.stringify(body)}`)
  }
}
