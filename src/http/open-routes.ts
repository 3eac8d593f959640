// What every listener answers without a credential: is it alive, is it ready, and what does its API look like.
import type { Context } from '../context.ts'
import { fail } from '../errors.ts'
import { referenceHeaders, referencePage } from './reference.ts'
import { type Route, route } from './route.ts'

const openRoute = route<undefined>()
const json = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'public, max-age=60' }
const shared = { tag: 'Service', access: undefined, replies: { 200: { description: 'Fine.' } } } as const

export function openRoutes(
  ctx: Context,
  document: Record<string, unknown>,
  isReady: () => boolean,
): Route<undefined>[] {
  const documentBytes = Buffer.from(JSON.stringify(document, null, 2))
  const page = Buffer.from(referencePage(document))
  return [
    openRoute({
      ...shared,
      method: 'GET',
      path: '/livez',
      id: 'livez',
      summary: 'Whether the process runs',
      handle: () => ({ status: 200, body: { status: 'ok' } }),
    }),
    openRoute({
      ...shared,
      method: 'GET',
      path: '/readyz',
      id: 'readyz',
      summary: 'Whether it can take requests',
      async handle() {
        if (!isReady())
          throw fail('service_unavailable', 'The service is starting or stopping.', { 'retry-after': '1' })
        await ctx.db.urgent.query('select 1')
        return { status: 200, body: { status: 'ok' } }
      },
    }),
    openRoute({
      ...shared,
      method: 'GET',
      path: '/openapi.json',
      id: 'openapi',
      summary: 'The OpenAPI document',
      handle: () => ({ status: 200, body: documentBytes, headers: json }),
    }),
    openRoute({
      ...shared,
      method: 'GET',
      path: '/docs',
      id: 'docs',
      summary: 'The API reference',
      handle: () => ({ status: 200, body: page, headers: referenceHeaders }),
    }),
  ]
}
