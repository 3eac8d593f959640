// What every listener answers without a credential: is it alive, is it ready, and what does its API look like.
import type { Context } from '../context.ts'
import { fail } from '../errors.ts'
import { referenceHeaders, referencePage } from './reference.ts'
import { type Reply, type Route, route } from './route.ts'

const json = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'public, max-age=60' }
const define = route<undefined>()

// A GET that anyone may send; not part of the API's own document.
export function openRoute(
  path: string,
  id: string,
  summary: string,
  handle: () => Promise<Reply> | Reply,
): Route<undefined> {
  return define({ method: 'GET', path, id, tag: 'Service', summary, access: undefined, replies: {}, handle })
}

export function openRoutes(
  ctx: Context,
  document: Record<string, unknown>,
  isReady: () => boolean,
): Route<undefined>[] {
  const documentBytes = Buffer.from(JSON.stringify(document, null, 2))
  const page = Buffer.from(referencePage(document))
  const ready = async () => {
    if (!isReady()) throw fail('service_unavailable', 'The service is starting or stopping.', { 'retry-after': '1' })
    await ctx.db.urgent.query('select 1')
    return { status: 200, body: { status: 'ok' } }
  }
  return [
    openRoute('/livez', 'livez', 'Whether the process runs', () => ({ status: 200, body: { status: 'ok' } })),
    openRoute('/readyz', 'readyz', 'Whether it can take requests', ready),
    openRoute('/openapi.json', 'openapi', 'The OpenAPI document', () => ({
      status: 200,
      body: documentBytes,
      headers: json,
    })),
    openRoute('/docs', 'docs', 'The API reference', () => ({ status: 200, body: page, headers: referenceHeaders })),
  ]
}
