// Who is operating: the gate of the operator listener. A bearer token with roles, and a Host header that names this listener,
// so that no web page can reach it through a name of its own (DNS rebinding).
import { timingSafeEqual } from 'node:crypto'
import { isIPv6 } from 'node:net'
import type { FastifyRequest } from 'fastify'
import type { Config } from '../config.ts'
import { fail } from '../errors.ts'
import type { Gate } from '../http/listener.ts'
import type { Actor } from '../partners/audit.ts'
import { hashToken, type OperatorTokens } from './tokens.ts'

export interface Operator {
  readonly id: string
  readonly name: string
  readonly roles: readonly string[]
}

export function createOperatorGate(bootstrapToken: string, tokens: OperatorTokens): Gate<Operator> {
  const bootstrapHash = hashToken(bootstrapToken)
  const bootstrap = { id: 'OPERATOR_TOKEN', name: 'bootstrap', roles: ['admin'] }
  return {
    admit(request, _reply, access) {
      const token = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
      const operator = token === undefined ? undefined : identify(token)
      return operator instanceof Promise ? operator.then((later) => allow(later, access)) : allow(operator, access)
    },
  }

  function identify(token: string): Operator | undefined | Promise<Operator | undefined> {
    const hash = hashToken(token)
    return timingSafeEqual(hash, bootstrapHash) ? bootstrap : tokens.get(hash.toString('hex'))
  }
}

// Every role may read; beyond that a role does its own work, and an admin everything.
function allow(operator: Operator | undefined, access: string): Operator {
  if (!operator) throw fail('auth_required', 'A valid operator token is required.', { 'www-authenticate': 'Bearer' })
  if (access !== 'read' && !operator.roles.includes(access) && !operator.roles.includes('admin')) {
    throw fail('forbidden', `The operator token lacks the role ${access}.`)
  }
  return operator
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
