// The browsable API reference: one HTML page made from the OpenAPI document. No script, nothing loaded from elsewhere, so it
// works offline and under the strictest Content-Security-Policy.
import { referenceStyle } from './reference-style.ts'

interface Schema {
  $ref?: string
  type?: string | string[]
  description?: string
  default?: unknown
  enum?: unknown[]
  anyOf?: Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  format?: string
}
interface Operation {
  operationId: string
  tags: string[]
  summary: string
  description?: string
  parameters?: { name: string; in: string; description?: string; required: boolean; schema: Schema }[]
  requestBody?: { content: { 'application/json': { schema: Schema; example?: unknown } } }
  responses: Record<string, { description: string; content?: { 'application/json'?: { schema: Schema } } }>
}
interface Document {
  info: { title: string; version: string; description: string }
  servers: { url: string }[]
  tags: { name: string; description: string }[]
  paths: Record<string, Record<string, Operation>>
  webhooks?: Record<string, { post: Operation }> // calls that the service makes
  components: { schemas: Record<string, Schema>; securitySchemes: Record<string, { description: string }> }
}

export const referenceHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
}

export function referencePage(openApi: Record<string, unknown>): string {
  const doc = openApi as unknown as Document
  const operations = Object.entries(doc.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  )
  const inTag = (tag: string) => operations.filter(({ operation }) => operation.tags.includes(tag))
  const received = Object.entries(doc.webhooks ?? {}).map(([action, { post }]) => ({ action, operation: post }))
  const receivedIn = (tag: string) => received.filter(({ operation }) => operation.tags.includes(tag))
  const menu = doc.tags.map(({ name }) => {
    const links = [
      ...inTag(name).map(({ operation }) => link(`#${operation.operationId}`, operation.summary)),
      ...receivedIn(name).map(({ action, operation }) => link(`#${operation.operationId}`, action)),
    ]
    return `<b>${escapeHtml(name)}</b><ul>${links.map((each) => `<li>${each}</li>`).join('')}</ul>`
  })
  const sections = doc.tags.map(({ name, description }) => {
    const articles = [
      ...inTag(name).map(({ path, method, operation }) => article(doc, path, method, operation)),
      ...receivedIn(name).map(({ action, operation }) => eventArticle(action, operation)),
    ]
    return `<section><h2>${escapeHtml(name)}</h2>${prose(description)}${articles.join('')}</section>`
  })
  const schemas = Object.entries(doc.components.schemas).map(
    ([name, schema]) =>
      `<article id="schema-${name}"><h3>${escapeHtml(name)}</h3>${prose(schema.description)}${fields(schema)}</article>`,
  )
  const security = Object.values(doc.components.securitySchemes).map((each) => prose(each.description))
  const title = escapeHtml(doc.info.title)
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} reference</title><style>${referenceStyle}</style></head>
<body><nav aria-label="Contents"><h1>${title} <small>${escapeHtml(doc.info.version)}</small></h1>${menu.join('')}
<b>More</b><ul><li>${link('#schemas', 'Schemas')}</li><li>${link('/openapi.json', 'openapi.json')}</li></ul></nav>
<main><h1>${title}</h1>${prose(doc.info.description)}${baseAddress(doc.servers[0]?.url ?? '')}
<h2>Credentials</h2>${security.join('')}${sections.join('\n')}
<section id="schemas"><h2>Schemas</h2>${schemas.join('')}</section></main></body></html>`
}

function baseAddress(url: string): string {
  const where = url.startsWith('/') ? `<code>${escapeHtml(url)}</code> on this host` : `<code>${escapeHtml(url)}</code>`
  return `<p>Base address: ${where}. In the examples it is <code>$BASE</code>, and your credential is <code>$TOKEN</code>.</p>`
}

function article(doc: Document, path: string, method: string, operation: Operation): string {
  const { operationId, summary, description, parameters = [], requestBody, responses } = operation
  const body = requestBody?.content['application/json'].schema
  const parameterRows = parameters.map((each) =>
    row(each.name, `${each.in}${each.required ? '' : ', optional'}`, each.schema, each.description),
  )
  const successes = Object.entries(responses).filter(([status]) => Number(status) < 400)
  const errors = Object.entries(responses).filter(([status]) => Number(status) >= 400)
  return `<article id="${operationId}"><h3>${escapeHtml(summary)}</h3>
<p class="call"><b class="${method.toLowerCase()}">${method}</b><code>${escapeHtml(path)}</code></p>${prose(description)}
<pre>${escapeHtml(curl(method, path, body !== undefined))}</pre>
${parameterRows.length > 0 ? `<h4>Parameters</h4><dl>${parameterRows.join('')}</dl>` : ''}
${body ? `<h4>Body</h4>${shape(doc, body)}` : ''}
${successes.map(([status, { description, content }]) => reply(doc, status, description, content?.['application/json']?.schema)).join('')}
<h4>Errors</h4><p class="errors">${errors.map(([status, each]) => `<span><small>${status}</small>${inline(each.description)}</span>`).join('')}</p></article>`
}

// What an endpoint receives, with an example.
function eventArticle(action: string, { operationId, summary, requestBody }: Operation): string {
  const { schema, example } = requestBody!.content['application/json']
  return `<article id="${operationId}"><h3>${escapeHtml(action)}</h3>${prose(`${summary}.`)}
<h4>Body</h4>${fields(schema)}<h4>Example</h4><pre>${escapeHtml(JSON.stringify(example, null, 2))}</pre></article>`
}

function reply(doc: Document, status: string, description: string, schema: Schema | undefined): string {
  return `<h4>Reply ${status}</h4><p>${inline(description)}</p>${schema ? shape(doc, schema) : ''}`
}

function curl(method: string, path: string, hasBody: boolean): string {
  const verb = method === 'GET' ? '' : `-X ${method} `
  const body = hasBody ? ` \\\n  -H 'Content-Type: application/json' \\\n  -d @body.json` : ''
  return `curl ${verb}"$BASE${path}" \\\n  -H "Authorization: Bearer $TOKEN"${body}`
}

// The fields of a named schema are folded away behind its name; others are shown as they are.
function shape(doc: Document, schema: Schema): string {
  if (!schema.$ref) return fields(schema)
  const name = schema.$ref.split('/').at(-1)!
  return `<details><summary>${escapeHtml(name)}</summary>${fields(doc.components.schemas[name] ?? {})}</details>`
}

function fields({ properties = {}, required = [] }: Schema): string {
  const rows = Object.entries(properties).map(([name, schema]) =>
    row(name, required.includes(name) ? '' : 'optional', schema, schema.description),
  )
  return rows.length > 0 ? `<dl>${rows.join('')}</dl>` : ''
}

function row(name: string, note: string, schema: Schema, description = ''): string {
  const notes = [note, schema.default === undefined ? '' : `default ${JSON.stringify(schema.default)}`].filter(Boolean)
  const inner = schema.items ?? schema
  return `<div><dt><code>${escapeHtml(name)}</code> <small>${[typeName(schema), ...notes.map(escapeHtml)].join(', ')}</small></dt>
<dd>${inline(description)}${values(schema)}${inner.$ref ? '' : fields(inner)}</dd></div>`
}

function values(schema: Schema): string {
  const inner = schema.items ?? schema
  const allowed = [inner, ...(inner.anyOf ?? [])].flatMap((each) => each.enum ?? [])
  if (allowed.length === 0) return ''
  return ` <small>One of</small> ${allowed.map((value) => `<code>${escapeHtml(String(value))}</code>`).join(' ')}`
}

function typeName(schema: Schema): string {
  if (schema.$ref) {
    const name = schema.$ref.split('/').at(-1)!
    return link(`#schema-${name}`, name)
  }
  if (schema.anyOf) return schema.anyOf.map(typeName).join(' or ')
  if (schema.items) return `list of ${typeName(schema.items)}`
  if (schema.enum && !schema.type) return 'string'
  return escapeHtml(schema.format ?? [schema.type ?? 'any'].flat().join(' or '))
}

function link(href: string, text: string): string {
  return `<a href="${escapeHtml(href)}">${escapeHtml(text)}</a>`
}

function prose(text = ''): string {
  const paragraphs = text.split('\n\n').filter(Boolean)
  return paragraphs.map((paragraph) => `<p>${inline(paragraph)}</p>`).join('')
}

function inline(text = ''): string {
  return escapeHtml(text).replace(/`([^`]+)`/g, '<code>$1</code>')
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`)
}
