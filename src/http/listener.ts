// One HTTP listener: serves routes given as data, feature-blind. Promises: every answer carries a request id; every error is
// exactly {"error_code", "error_msg"}; a known address with a wrong method is 405 with Allow; no header or body is ever logged.
import { METHODS } from 'node:http'
import Fastify, { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import type { Context } from '../context.ts'
import { DatabaseUnavailable } from '../db/db.ts'
import { errorTable, Failure, fail } from '../errors.ts'
import { newId } from '../ids.ts'
import { secondsBuckets } from '../metrics.ts'
import { drainOnClose } from './draining.ts'
import { acceptJsonBodies } from './json-body.ts'
import type { Reply, Route } from './route.ts'
import { bodyValidator, textValidator } from './validation.ts'

const usual = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']
// Whatever Node can parse; CONNECT never reaches a route.
const methods = [...usual, ...METHODS.filter((method) => !usual.includes(method) && method !== 'CONNECT')]
const bodyLimitBytes = 1024 * 1024
const callerName = 'caller'

export interface Gate<Caller> {
  // Says who is calling, or throws; sets headers (rate limit) on the reply. Runs before the body is read.
  admit(request: FastifyRequest, reply: FastifyReply, access: string): Promise<Caller> | Caller
  // For routes of the API that need no credential: throws when there are too many of them.
  welcome?(request: FastifyRequest, reply: FastifyReply): void
  // Told of every answer but successful reads, once it is out; `caller` is missing when nobody was let in.
  answered?(request: FastifyRequest, answer: Answer, caller: Caller | undefined): void
  // Headers for replies that need no credential and take nothing from any allowance.
  announce?(request: FastifyRequest): Record<string, string>
  // A last check once the body is there, before anything happens.
  checkBody?(request: FastifyRequest, caller: Caller): void
}

export interface Answer {
  readonly status: number
  readonly failure: Failure | undefined
  readonly elapsedMs: number
}

export interface ListenerOptions<Caller> {
  readonly name: 'partner' | 'operator'
  readonly gate: Gate<Caller>
  readonly routes: readonly Route<Caller>[]
  readonly prefixes: readonly string[] // the same routes answer under each
  readonly openRoutes: readonly Route<undefined>[] // without credential or prefix: probes, documents
  readonly fallback?: (request: FastifyRequest) => Reply | undefined // for addresses that no route is at
  readonly checkRequest?: (request: FastifyRequest) => void // before everything else
}

export function createListener<Caller>(ctx: Context, options: ListenerOptions<Caller>): FastifyInstance {
  const app = Fastify({
    trustProxy: ctx.config.trustedProxies.length > 0 ? [...ctx.config.trustedProxies] : false,
    bodyLimit: bodyLimitBytes,
    requestTimeout: 30_000, // a client that drips its request is not waited for longer
    keepAliveTimeout: 72_000, // longer than the idle time of usual load balancers, so that they close first
    return503OnClosing: false, // what arrives on an open connection during a stop is still answered
    forceCloseConnections: 'idle',
    genReqId: (raw) => {
      const given = raw.headers['x-request-id']
      return typeof given === 'string' && /^[\w.:-]{1,128}$/.test(given) ? given : newId('req')
    },
    frameworkErrors: (error, request, reply) => sendError(ctx, error, request, reply),
    clientErrorHandler: answerBrokenRequest,
  })
  for (const method of methods) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method)
  app.decorateRequest(callerName, null)
  acceptJsonBodies(app)
  drainOnClose(app)
  observe(ctx, app, options)
  const announce = (request: FastifyRequest, reply: FastifyReply): undefined => {
    if (options.gate.announce) reply.headers(options.gate.announce(request))
  }
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id)
    try {
      options.checkRequest?.(request)
      if (!request.is404) return done()
      announce(request, reply)
      done(options.fallback?.(request) ? undefined : fail('not_found'))
    } catch (error) {
      done(error as Error)
    }
  })
  app.setErrorHandler((error: FastifyError, request, reply) => sendError(ctx, error, request, reply))
  app.setNotFoundHandler((request, reply) => {
    const answer = options.fallback?.(request)
    if (!answer) throw fail('not_found')
    return send(reply, answer)
  })

  const open: Gate<undefined> = { admit: announce }
  const served = new Map<string, Set<string>>()
  for (const each of options.openRoutes) addRoute(app, each, each.path, open, served)
  for (const prefix of options.prefixes) {
    for (const each of options.routes) addRoute(app, each, prefix + each.path, options.gate, served)
  }
  for (const [url, known] of served) refuseOtherMethods(app, url, known, announce)
  return app
}

const failures = new WeakMap<FastifyRequest, Failure>() // what was answered instead

function addRoute<Caller>(
  app: FastifyInstance,
  route: Route<Caller>,
  path: string,
  gate: Gate<Caller>,
  served: Map<string, Set<string>>,
): void {
  const url = path.replace(/\{(\w+)\}/g, ':$1')
  const known = served.get(url) ?? new Set<string>()
  served.set(url, known.add(route.method))
  const checkParams = route.params && textValidator(route.params)
  const checkQuery = route.query && textValidator(route.query)
  const checkBody = route.body && bodyValidator(route.body)

  app.route({
    method: route.method,
    url,
    ...(route.bodyLimitBytes ? { bodyLimit: route.bodyLimitBytes } : {}),
    // What is known at once is answered at once: a promise on the way costs as much as everything else about a cached reply.
    onRequest: (request, reply, done) => {
      const admitted = (caller: Caller) => {
        request.setDecorator(callerName, caller)
        done()
      }
      let caller: Caller | Promise<Caller> | undefined
      try {
        if (route.access === undefined && gate.welcome) gate.welcome(request, reply)
        else caller = gate.admit(request, reply, route.access ?? '')
      } catch (error) {
        return done(error as Error)
      }
      if (caller instanceof Promise) caller.then(admitted, done)
      else admitted(caller as Caller)
    },
    handler: (request, reply) => {
      const caller = callerOf(request) as Caller
      if (caller !== undefined) gate.checkBody?.(request, caller)
      checkParams?.(request.params)
      checkQuery?.(request.query)
      checkBody?.(request.body)
      const { params, query, body } = request
      const answer = route.handle({ caller, params, query, body, request })
      return answer instanceof Promise ? answer.then((later) => send(reply, later)) : send(reply, answer)
    },
  })
}

function send(reply: FastifyReply, { status, headers, body }: Reply): FastifyReply {
  reply.code(status)
  if (headers) reply.headers(headers)
  return reply.send(body)
}

// Who was let in.
function callerOf(request: FastifyRequest): unknown {
  return request.getDecorator(callerName) ?? undefined
}

function isRead(method: string): boolean {
  return method === 'GET' || method === 'HEAD'
}

// Refused before the body is read: what was sent does not matter when the method is wrong.
function refuseOtherMethods(
  app: FastifyInstance,
  url: string,
  known: Set<string>,
  announce: (request: FastifyRequest, reply: FastifyReply) => void,
): void {
  if (known.has('GET')) known.add('HEAD')
  const allow = methods.filter((method) => known.has(method)).join(', ')
  app.route({
    method: methods.filter((method) => !known.has(method)),
    url,
    onRequest: async (request, reply) => {
      announce(request, reply)
      throw fail('method_not_allowed', `This address supports ${allow}.`, { allow })
    },
    handler: async () => {},
  })
}

function sendError(ctx: Context, error: Error, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const failure = toFailure(error)
  failures.set(request, failure)
  if (failure.code === 'internal_error')
    ctx.log.error({ ...describe(error), request_id: request.id }, 'a request failed')
  return reply
    .code(errorTable[failure.code].status)
    .headers({ 'x-request-id': request.id, ...failure.headers })
    .send({ error_code: failure.code, error_msg: failure.message })
}

// Not the error itself: a database error carries the statement's parameters, and those came in a body.
function describe({ message, stack, code }: Error & { code?: unknown }): Record<string, unknown> {
  return { error: message, code, stack }
}

function toFailure(error: Error): Failure {
  if (error instanceof Failure) return error
  if (error instanceof DatabaseUnavailable) {
    const sentence = error.commitUnknown
      ? 'The outcome of this request is not known yet; repeat it with the same Idempotency-Key or id.'
      : undefined
    return fail('service_unavailable', sentence, { 'retry-after': '1' })
  }
  switch ((error as FastifyError).statusCode) {
    case 400:
    case 414:
      return fail('invalid_parameters', 'The request could not be read: its address, headers or length are not valid.')
    case 413:
      return fail('payload_too_large')
    case 415:
      return fail('unsupported_media_type')
    default:
      return fail('internal_error')
  }
}

// The bytes were not HTTP, or stopped coming: there is no request to answer, only a socket.
function answerBrokenRequest(error: Error & { code?: string }, socket: import('node:net').Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy()
  const body = JSON.stringify({
    error_code: 'invalid_parameters',
    error_msg: 'The request is not valid HTTP, came too slowly, or has headers that are too large.',
  })
  socket.end(
    `HTTP/1.1 400 Bad Request\r\nContent-Type: application/json; charset=utf-8\r\nContent-Length: ${body.length}\r\nX-Request-Id: ${newId('req')}\r\nConnection: close\r\n\r\n${body}`,
  )
}

function observe<Caller>(ctx: Context, app: FastifyInstance, { name: listener, gate }: ListenerOptions<Caller>): void {
  const requestSeconds = ctx.metrics.histogram('http_request_seconds', 'Time to answer a request.', secondsBuckets)
  const known = new Map<string, Record<string, string>>()
  const labelsOf = (method: string, route: string, status: string) => {
    const name = `${method} ${status} ${route}`
    const labels = known.get(name) ?? { listener, method, route, status }
    known.set(name, labels)
    return labels
  }
  app.addHook('onResponse', (request, reply, done) => {
    const route = request.is404 ? 'none' : (request.routeOptions.url ?? 'none')
    const labels = labelsOf(request.method, route, String(reply.statusCode))
    requestSeconds.observe(reply.elapsedTime / 1_000, labels)
    if (gate.answered && (reply.statusCode >= 400 || !isRead(request.method))) {
      const answer = { status: reply.statusCode, failure: failures.get(request), elapsedMs: reply.elapsedTime }
      gate.answered(request, answer, callerOf(request) as Caller | undefined)
    }
    if (ctx.log.isLevelEnabled('info')) {
      ctx.log.info(
        {
          request_id: request.id,
          ...labels,
          status: reply.statusCode,
          ms: Math.round(reply.elapsedTime),
          address: request.ip,
        },
        'request',
      )
    }
    done()
  })
}
