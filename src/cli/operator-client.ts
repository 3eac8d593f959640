// Calls a running service's operator API, for the commands that operate it.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readEnvironment } from '../config.ts'

export type Json = Record<string, unknown>

export async function callOperator(method: string, path: string, body?: unknown): Promise<Json> {
  const { url, token } = target()
  let response: Response
  try {
    response = await fetch(`${url}/operator/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  } catch {
    throw new Error(`No service answers at ${url}. Start it (npm start), or set OPERATOR_URL.`)
  }
  const reply = response.status === 204 ? {} : ((await response.json()) as Json)
  if (!response.ok) throw new Error(`${reply.error_code}: ${reply.error_msg}`)
  return reply
}

// Every page of a list.
export async function callOperatorList(path: string, plural: string): Promise<Json[]> {
  const items: Json[] = []
  for (let cursor: unknown = ''; cursor !== null; ) {
    const page = await callOperator(
      'GET',
      `${path}${path.includes('?') ? '&' : '?'}limit=100${cursor ? `&cursor=${cursor}` : ''}`,
    )
    items.push(...(page[plural] as Json[]))
    cursor = page.next_cursor
  }
  return items
}

function target(): { url: string; token: string } {
  const environment = readEnvironment()
  const url = environment.OPERATOR_URL ?? `http://127.0.0.1:${environment.OPERATOR_PORT || 8081}`
  if (environment.OPERATOR_TOKEN) return { url, token: environment.OPERATOR_TOKEN }
  const file = join(environment.DATA_DIR || './data', 'operator-token')
  try {
    return { url, token: readFileSync(file, 'utf8').trim() }
  } catch {
    throw new Error(`There is no operator token: set OPERATOR_TOKEN, or run this where a sandbox keeps one in ${file}.`)
  }
}
