// A route as data: who may call it, what goes in, what comes out, and the function that answers. The listener serves it and the
// OpenAPI document describes it from this one definition, so the two cannot disagree.
import type { FastifyRequest } from 'fastify'
import type { Static, TObject, TSchema } from 'typebox'
import type { ErrorCode } from '../errors.ts'

export interface Reply {
  readonly status: number
  readonly body?: unknown // an object becomes JSON; a Buffer is sent as it is, with the content type given in `headers`
  readonly headers?: Record<string, string>
}

export interface ReplyDescription {
  readonly description: string
  readonly schema?: TSchema // of JSON
  readonly file?: { readonly type: string; readonly example: string } // what the body may be instead, if asked for
}

export interface Call<Caller, P, Q, B> {
  readonly caller: Caller
  readonly params: P
  readonly query: Q
  readonly body: B
  readonly request: FastifyRequest
}

export interface RouteDefinition<Caller, P extends TObject, Q extends TObject, B extends TSchema> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string // with parameters as in OpenAPI: /partners/{partner_id}
  readonly id: string // operationId
  readonly tag: string
  readonly summary: string
  readonly description?: string
  readonly access: string | undefined // what the caller needs (a scope, a role); undefined: open to everyone
  readonly params?: P
  readonly query?: Q
  readonly body?: B
  readonly bodyLimitBytes?: number
  readonly idempotent?: boolean // takes an Idempotency-Key
  readonly conditional?: boolean // answers If-None-Match with 304
  readonly headers?: Readonly<Record<string, string>> // further request headers it reads, and what they mean
  readonly replies: Readonly<Record<number, ReplyDescription>>
  readonly errors?: readonly ErrorCode[] // beyond those that any route of its kind can answer
  handle(call: Call<Caller, Static<P>, Static<Q>, Static<B>>): Promise<Reply> | Reply
}

// biome-ignore lint/suspicious/noExplicitAny: a list of routes holds routes of every shape
export type Route<Caller> = RouteDefinition<Caller, any, any, any>

// biome-ignore-start lint/complexity/noBannedTypes: `{}` is how TypeBox names an object without members
export function route<Caller>() {
  return <P extends TObject = TObject<{}>, Q extends TObject = TObject<{}>, B extends TSchema = TSchema>(
    definition: RouteDefinition<Caller, P, Q, B>,
  ): Route<Caller> => definition
}
// biome-ignore-end lint/complexity/noBannedTypes: as above
