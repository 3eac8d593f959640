// The OpenAPI 3.1 document, made from the same route definitions and schemas that serve and validate.
import type { TSchema } from 'typebox'
import { type ErrorCode, errorTable } from '../errors.ts'
import type { ReplyDescription, Route } from './route.ts'

export interface DocumentOptions {
  readonly title: string
  readonly description: string
  readonly version: string
  readonly server: string
  readonly security: { readonly name: string; readonly description: string }
  readonly cookie: { readonly name: string; readonly description: string } // of the console's session
  readonly tags: Readonly<Record<string, string>> // in the order in which they are shown
  readonly rateLimited: boolean // whether callers can be told to slow down
  readonly schemas: Readonly<Record<string, TSchema>> // those that get a name of their own
  readonly webhooks?: Readonly<Record<string, WebhookDescription>> // calls that the service makes, by event type
}

export interface WebhookDescription {
  readonly meaning: string
  readonly entities: Readonly<Record<string, TSchema>>
  readonly example: Readonly<Record<string, unknown>>
  readonly tag: string
}

type Json = Record<string, unknown>

const errorSchema = {
  type: 'object',
  description: 'Every error has this body.',
  required: ['error_code', 'error_msg'],
  additionalProperties: false,
  properties: {
    error_code: { type: 'string', enum: Object.keys(errorTable), description: 'What kind of error it is.' },
    error_msg: { type: 'string', description: 'A short sentence that names what is wrong.' },
  },
}

// biome-ignore lint/suspicious/noExplicitAny: routes of every kind of caller are described alike
export function openApiDocument(options: DocumentOptions, routes: readonly Route<any>[]): Json {
  const names = new Map<TSchema, string>(Object.entries(options.schemas).map(([name, schema]) => [schema, name]))
  const paths: Record<string, Json> = {}
  for (const each of routes) {
    paths[each.path] ??= {}
    paths[each.path]![each.method.toLowerCase()] = operation(each, names, options)
  }
  return {
    openapi: '3.1.0',
    info: {
      title: options.title,
      version: options.version,
      description: options.description,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: options.server }],
    security: [{ [options.security.name]: [] }, { session: [] }],
    tags: Object.entries(options.tags).map(([name, description]) => ({ name, description })),
    paths,
    ...(options.webhooks ? { webhooks: webhookCalls(options.webhooks, names) } : {}),
    components: {
      securitySchemes: {
        [options.security.name]: { type: 'http', scheme: 'bearer', description: options.security.description },
        session: { type: 'apiKey', in: 'cookie', ...options.cookie },
      },
      headers: {
        'X-Request-Id': {
          description: 'Id of this request; quote it when you report a problem. A sane one that you send is kept.',
          schema: { type: 'string' },
        },
        'Retry-After': { description: 'Seconds to wait before the next try.', schema: { type: 'integer' } },
      },
      schemas: {
        Error: errorSchema,
        ...Object.fromEntries(
          Object.entries(options.schemas).map(([name, schema]) => [name, render(schema, names, schema)]),
        ),
      },
    },
  }
}

// biome-ignore lint/suspicious/noExplicitAny: see above
function operation(each: Route<any>, names: ReadonlyMap<TSchema, string>, { rateLimited }: DocumentOptions): Json {
  const parameters = [
    ...parametersOf(each.params, 'path', names),
    ...parametersOf(each.query, 'query', names),
    ...Object.entries(each.headers ?? {}).map(([name, description]) => header(name, description)),
    ...(each.conditional
      ? [header('If-None-Match', 'An `ETag` seen before; answered with 304 while it still holds.')]
      : []),
    ...(each.idempotent
      ? [
          header(
            'Idempotency-Key',
            'Up to 255 characters. The same key within 24 hours gets the same reply and no second effect.',
          ),
        ]
      : []),
  ]
  return {
    operationId: each.id,
    tags: [each.tag],
    summary: each.summary,
    description: [each.description, needs(each.access)].filter(Boolean).join('\n\n'),
    ...(each.access === undefined
      ? { security: [] }
      : each.access === 'session'
        ? { security: [{ session: [] }] }
        : {}),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(each.body ? { requestBody: { required: true, content: jsonContent(render(each.body, names)) } } : {}),
    responses: { ...successes(each, names), ...errorResponses(each, rateLimited) },
  }
}

function needs(access: string | undefined): string {
  if (access === undefined) return 'Open to everyone.'
  return access === 'session' ? 'Needs the cookie of a session.' : `Needs \`${access}\`.`
}

// biome-ignore lint/suspicious/noExplicitAny: see above
function successes(each: Route<any>, names: ReadonlyMap<TSchema, string>): Json {
  const responses: Json = {}
  for (const [status, { description, schema, file }] of Object.entries<ReplyDescription>(each.replies)) {
    const content = {
      ...(schema ? jsonContent(render(schema, names)) : {}),
      ...(file ? { [file.type]: { schema: { type: 'string' }, example: file.example } } : {}),
    }
    responses[status] = { description, headers: requestIdHeader, ...(schema || file ? { content } : {}) }
  }
  if (each.conditional) responses[304] = { description: 'Nothing has changed.', headers: requestIdHeader }
  return responses
}

// biome-ignore lint/suspicious/noExplicitAny: see above
function errorResponses(each: Route<any>, rateLimited: boolean): Json {
  const codes = new Set<ErrorCode>(each.errors ?? [])
  if (each.access !== undefined) codes.add('auth_required').add('forbidden')
  if (each.access !== undefined && rateLimited) codes.add('too_many_requests')
  if (each.params || each.query) codes.add('invalid_parameters')
  if (each.body) {
    for (const code of [
      'body_parse_error',
      'invalid_parameters',
      'payload_too_large',
      'unsupported_media_type',
    ] as const)
      codes.add(code)
  }
  if (each.idempotent) codes.add('conflict').add('invalid_parameters')
  codes.add('internal_error').add('service_unavailable')

  const byStatus = new Map<number, ErrorCode[]>()
  for (const code of Object.keys(errorTable) as ErrorCode[]) {
    if (codes.has(code)) byStatus.set(errorTable[code].status, [...(byStatus.get(errorTable[code].status) ?? []), code])
  }
  return Object.fromEntries(
    [...byStatus].map(([status, list]) => [
      status,
      {
        description: list.map((code) => `\`${code}\``).join(', '),
        headers: { ...requestIdHeader, ...(status === 429 || status === 503 ? retryAfterHeader : {}) },
        content: jsonContent({ $ref: '#/components/schemas/Error' }),
      },
    ]),
  )
}

function webhookCalls(
  webhooks: Readonly<Record<string, WebhookDescription>>,
  names: ReadonlyMap<TSchema, string>,
): Json {
  return Object.fromEntries(
    Object.entries(webhooks).map(([action, { meaning, entities, example, tag }]) => {
      const schema = {
        type: 'object',
        required: ['id', 'action', 'created_at', ...Object.keys(entities)],
        properties: {
          id: { type: 'string', description: 'Unique event identifier; the same on every attempt.' },
          action: { const: action, description: 'Event type.' },
          created_at: { type: 'string', format: 'date-time', description: 'When the event was created.' },
          ...(render(entities, names) as Json),
        },
      }
      const body = {
        id: 'evt_01m7f0b9qn8y4t0cf4e6d5yeth',
        action,
        created_at: '2026-01-05T12:00:00.123456+00:00',
        ...example,
      }
      const post = {
        operationId: `receive-${action}`,
        tags: [tag],
        summary: meaning,
        description:
          'Answer with a 2xx status within 30 seconds. Verify `X-JWT-SIGNATURE` against `/.well-known/jwks.json`. Be idempotent: duplicates can occur.',
        security: [],
        parameters: [
          {
            ...header(
              'X-JWT-SIGNATURE',
              'A JWT, fresh for every attempt: `sub` is the event id, `aud` the subscription id, `digest` the hex SHA-256 of the body.',
            ),
            required: true,
          },
          { ...header('X-Event-Id', 'The event id.'), required: true },
          { ...header('X-Event-Type', 'The event type.'), required: true },
          { ...header('X-Attempt-Number', 'Counts up from 1.'), required: true },
        ],
        requestBody: { required: true, content: { 'application/json': { schema, example: body } } },
        responses: {
          '2XX': { description: 'Received.' },
          '4XX': { description: 'Not received: it is tried again later (410: the subscription is disabled).' },
        },
      }
      return [action, { post }]
    }),
  )
}

const requestIdHeader = { 'X-Request-Id': { $ref: '#/components/headers/X-Request-Id' } }
const retryAfterHeader = { 'Retry-After': { $ref: '#/components/headers/Retry-After' } }

function jsonContent(schema: unknown): Json {
  return { 'application/json': { schema } }
}

function header(name: string, description: string): Json {
  return { name, in: 'header', description, required: false, schema: { type: 'string' } }
}

function parametersOf(
  schema: TSchema | undefined,
  place: 'path' | 'query',
  names: ReadonlyMap<TSchema, string>,
): Json[] {
  const { properties = {}, required = [] } = (schema ?? {}) as {
    properties?: Record<string, TSchema>
    required?: string[]
  }
  return Object.entries(properties).map(([name, property]) => {
    const { description, ...rest } = render(property, names) as Json
    return { name, in: place, description, required: required.includes(name), schema: rest }
  })
}

// A plain copy of a schema in which every named one, except the one being defined, is a reference.
function render(schema: unknown, names: ReadonlyMap<TSchema, string>, defining?: TSchema): unknown {
  if (Array.isArray(schema)) return schema.map((each) => render(each, names))
  if (typeof schema !== 'object' || schema === null) return schema
  const name = schema === defining ? undefined : names.get(schema as TSchema)
  if (name !== undefined) return { $ref: `#/components/schemas/${name}` }
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, render(value, names)]))
}
