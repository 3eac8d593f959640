// One way to call the service: the session cookie, the header that shows the call comes from the console, and errors that carry
// error_msg and the request id. Remembers the last calls for the request log.

export const listener: 'partner' | 'operator' =
  document.querySelector('meta[name="console"]')?.getAttribute('content') === 'operator' ? 'operator' : 'partner'
export const apiPrefix = listener === 'operator' ? '/operator/v1' : '/v1'
export const sessionPath = listener === 'operator' ? '/session' : '/console/session'

export class ApiError extends Error {
  readonly status: number // 0: no answer at all
  readonly code: string
  readonly requestId: string | null

  constructor(status: number, code: string, message: string, requestId: string | null) {
    super(message)
    this.status = status
    this.code = code
    this.requestId = requestId
  }
}

export function toApiError(failure: unknown): ApiError {
  return failure instanceof ApiError ? failure : new ApiError(0, 'error', String(failure), null)
}

export interface CallOptions {
  readonly body?: unknown
  readonly headers?: Record<string, string>
  readonly once?: string // an Idempotency-Key: a repeat has no second effect
}

export interface Answer<T> {
  readonly data: T
  readonly text: string // as it came: numbers in it are exactly what was sent
  readonly headers: Headers
}

export interface MadeCall {
  readonly requestId: string
  readonly at: string
  readonly method: string
  readonly path: string
  readonly status: number
  readonly durationMs: number
}

const mostCalls = 60
let calls: readonly MadeCall[] = []
const callListeners = new Set<() => void>()
export const madeCalls = () => calls
export function onCall(listen: () => void): () => void {
  callListeners.add(listen)
  return () => callListeners.delete(listen)
}

let whenSignedOut: () => void = () => {}
export function onSignedOut(work: () => void): void {
  whenSignedOut = work
}

export async function call<T>(method: string, path: string, options: CallOptions = {}): Promise<Answer<T>> {
  const headers: Record<string, string> = { accept: 'application/json', ...options.headers }
  if (method !== 'GET') headers['x-console'] = '1'
  if (options.body !== undefined) headers['content-type'] = 'application/json'
  if (options.once !== undefined) headers['idempotency-key'] = options.once
  const startedAt = performance.now()
  const at = new Date().toISOString()
  let response: Response
  let text: string
  try {
    response = await fetch(apiPrefix + path, {
      method,
      headers,
      credentials: 'same-origin',
      ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
    })
    text = await response.text()
  } catch {
    throw new ApiError(0, 'unreachable', 'The service did not answer. Check your connection and try again.', null)
  }
  const requestId = response.headers.get('x-request-id')
  if (requestId) {
    const durationMs = Math.round(performance.now() - startedAt)
    calls = [{ requestId, at, method, path, status: response.status, durationMs }, ...calls].slice(0, mostCalls)
    for (const listen of callListeners) listen()
  }
  const data = readJson(text)
  if (response.ok) return { data: data as T, text, headers: response.headers }
  if (response.status === 401 && path !== sessionPath) whenSignedOut()
  throw toError(response.status, data, requestId)
}

// Asked when something ended without a reason, such as the stream: was it the session?
export async function askSession(): Promise<void> {
  await call('GET', sessionPath).catch((error: ApiError) => {
    if (error.status === 401) whenSignedOut()
  })
}

export async function get<T>(path: string): Promise<T> {
  return (await call<T>('GET', path)).data
}

export async function send<T>(method: string, path: string, body?: unknown, once?: string): Promise<T> {
  const options = { ...(body === undefined ? {} : { body }), ...(once === undefined ? {} : { once }) }
  return (await call<T>(method, path, options)).data
}

// The same page asks the same thing once: a double click or a repeat after a lost answer has one effect.
export function onceKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16)) // randomUUID exists only on https and localhost
  return `console-${[...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`
}

// The key for the next try: another one only when this call was refused. Without an answer it may have had its effect.
export function nextKey(key: string, { status }: ApiError): string {
  return status >= 400 && status < 500 ? onceKey() : key
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function toError(status: number, data: unknown, requestId: string | null): ApiError {
  const { error_code, error_msg } = (data ?? {}) as { error_code?: unknown; error_msg?: unknown }
  return new ApiError(
    status,
    typeof error_code === 'string' ? error_code : `status ${status}`,
    typeof error_msg === 'string' ? error_msg : `The service answered with status ${status}.`,
    requestId,
  )
}

export function query(parameters: Record<string, string | number | undefined | null>): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== null && value !== '')
  return given.length === 0 ? '' : `?${new URLSearchParams(given.map(([key, value]) => [key, String(value)]))}`
}
