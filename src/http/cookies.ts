// Session cookies of browsers, and the guard against pages of other origins: with a cookie, whatever could change something has to
// carry a header that no foreign page can send, and must not say that it comes from elsewhere.
import type { FastifyRequest } from 'fastify'
import { fail } from '../errors.ts'

export interface SessionCookie {
  read(request: FastifyRequest): string | undefined
  write(request: FastifyRequest, token: string, maxAgeSeconds: number): string // the value of Set-Cookie
  clear(request: FastifyRequest): string
}

// `alwaysSecure` when the listener is known to be reached by TLS; otherwise the request tells, as far as a trusted proxy says so.
// The prefix __Host- keeps other hosts of the same domain from planting a cookie of theirs.
export function sessionCookie(name: string, alwaysSecure: boolean): SessionCookie {
  const isSecure = (request: FastifyRequest) => alwaysSecure || request.protocol === 'https'
  const nameFor = (request: FastifyRequest) => (isSecure(request) ? `__Host-${name}` : name)
  const attributes = (request: FastifyRequest) =>
    `HttpOnly; SameSite=Strict; Path=/${isSecure(request) ? '; Secure' : ''}`
  return {
    read: (request) => readCookie(request.headers.cookie, nameFor(request)),
    write: (request, token, maxAgeSeconds) =>
      `${nameFor(request)}=${token}; Max-Age=${Math.max(0, Math.floor(maxAgeSeconds))}; ${attributes(request)}`,
    clear: (request) => `${nameFor(request)}=; Max-Age=0; ${attributes(request)}`,
  }
}

function readCookie(header: string | undefined, name: string): string | undefined {
  if (header === undefined) return undefined
  for (const part of header.split(';')) {
    const at = part.indexOf('=')
    if (at > 0 && part.slice(0, at).trim() === name) return part.slice(at + 1).trim()
  }
  return undefined
}

// For requests that a cookie vouches for. A page elsewhere cannot set the header without asking first, and is never allowed to.
export function refuseForgery(request: FastifyRequest, publicUrl: string | undefined): void {
  if (request.method === 'GET' || request.method === 'HEAD') return
  if (request.headers['x-console'] !== '1')
    throw fail('forbidden', 'With a session cookie this needs the header X-Console: 1.')
  refuseForeignOrigin(request, publicUrl)
}

export function refuseForeignOrigin(request: FastifyRequest, publicUrl: string | undefined): void {
  const { origin, 'sec-fetch-site': site } = request.headers
  const foreign = fail('forbidden', 'The request comes from a page of another origin.')
  if (site !== undefined && site !== 'same-origin') throw foreign
  if (origin === undefined) return
  const own = [`${request.protocol}://${request.host}`, publicUrl === undefined ? '' : new URL(publicUrl).origin]
  if (!own.includes(origin)) throw foreign
}
