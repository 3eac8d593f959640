// Who is operating: the gate of the operator listener. A bearer token with roles, or the cookie of a console session, which is worth
// what its token is worth; and a Host header that names this listener, so that no web page can reach it through a name of its own
// (DNS rebinding).
import { timingSafeEqual } from 'node:crypto'
import { isIPv6 } from 'node:net'
import type { FastifyRequest } from 'fastify'
import type { Config } from '../config.ts'
import { fail } from '../errors.ts'
import { refuseForgery, type SessionCookie } from '../http/cookies.ts'
import type { Gate } from '../http/listener.ts'
import type { Actor } from '../partners/audit.ts'
import { hashSessionToken } from '../partners/sessions.ts'
import { type OperatorSession, type OperatorSessions, proofHolds } from './sessions.ts'
import { hashToken, type OperatorTokens } from './tokens.ts'

export interface Operator {
  readonly id: string
  readonly name: string
  readonly roles: readonly string[]
  readonly session?: OperatorSession // set when a cookie vouched for it
}

// What a route asks for that is about the session itself: no role, but a cookie.
export const ownSession = 'session'
const bootstrap: Operator = { id: 'OPERATOR_TOKEN', name: 'bootstrap', roles: ['admin'] }

export interface OperatorGate extends Gate<Operator> {
  identify(token: string): Promise<Operator | undefined>
}

export interface OperatorGateDependencies {
  readonly bootstrapToken: string
  readonly tokens: OperatorTokens
  readonly sessions: OperatorSessions
  readonly cookie: SessionCookie
  readonly now: () => Date
}

export function createOperatorGate({
  bootstrapToken,
  tokens,
  sessions,
  cookie,
  now,
}: OperatorGateDependencies): OperatorGate {
  const bootstrapHash = hashToken(bootstrapToken)
  return {
    identify,
    async admit(request, reply, access) {
      const operator = await whoAsks(request)
      if (!operator) throw unauthenticated()
      if (operator.session) {
        reply.header('cache-control', 'no-store')
        refuseForgery(request, undefined)
      }
      if (access === ownSession) {
        if (!operator.session) throw unauthenticated()
        return operator
      }
      // Every role may read; beyond that a role does its own work, and an admin everything.
      if (access !== 'read' && !operator.roles.includes(access) && !operator.roles.includes('admin')) {
        throw fail('forbidden', `The operator token lacks the role ${access}.`)
      }
      return operator
    },
    welcome() {},
  }

  function whoAsks(request: FastifyRequest): Promise<Operator | undefined> | undefined {
    const { authorization } = request.headers
    if (authorization === undefined) return identifySession(cookie.read(request))
    const token = /^Bearer +(\S+)$/i.exec(authorization)?.[1]
    return token === undefined ? undefined : identify(token)
  }

  async function identify(token: string): Promise<Operator | undefined> {
    const hash = hashToken(token)
    if (timingSafeEqual(hash, bootstrapHash)) return bootstrap
    return tokens.get(hash.toString('hex'))
  }

  async function identifySession(token: string | undefined): Promise<Operator | undefined> {
    if (token === undefined) return undefined
    const session = await sessions.get(hashSessionToken(token))
    if (!session || Date.parse(session.expiresAt) <= now().getTime()) return undefined
    if (session.proof) return proofHolds(session.proof, token, bootstrapToken) ? { ...bootstrap, session } : undefined
    return { id: session.id!, name: session.name!, roles: session.roles!, session }
  }
}

export function unauthenticated() {
  return fail('auth_required', 'A valid operator token is required.', { 'www-authenticate': 'Bearer' })
}

export function operatorActor({ id, name }: Operator, request: FastifyRequest): Actor {
  return { kind: 'operator', id, name, requestId: request.id }
}

export function checkHost(config: Config) {
  const names = ['localhost', '127.0.0.1', '::1', config.operatorHost, ...config.operatorAllowedHosts]
  const allowed = new Set(names.map(hostOf))
  return (request: FastifyRequest): void => {
    const host = (request.headers.host ?? '').replace(/:\d+$/, '').toLowerCase()
    if (allowed.has(host) || (host !== '' && host === hostOf(request.socket.localAddress ?? ''))) return
    throw fail('forbidden', 'The Host header does not name this listener; add the name to OPERATOR_ALLOWED_HOSTS.')
  }
}

// A name or address as a Host header writes it; a dual-stack socket shows IPv4 addresses as ::ffff:192.0.2.1.
function hostOf(name: string): string {
  const plain = name.toLowerCase().replace(/^::ffff:(?=\d+\.)/, '')
  return isIPv6(plain) ? `[${plain}]` : plain
}
