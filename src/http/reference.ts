// The browsable API reference: one HTML page made from the OpenAPI document. No script, nothing loaded from elsewhere, so it
// works offline and under the strictest Content-Security-Policy.

interface Schema {
  $ref?: string
  type?: string | string[]
  description?: string
  enum?: unknown[]
  anyOf?: Schema[]
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  format?: string
  [key: string]: unknown
}
interface Operation {
  operationId: string
  tags: string[]
  summary: string
  description?: string
  parameters?: { name: string; in: string; description?: string; required: boolean; schema: Schema }[]
  requestBody?: { content: { 'application/json': { schema: Schema } } }
  responses: Record<string, { description: string; content?: { 'application/json'?: { schema: Schema } } }>
}
interface Document {
  info: { title: string; version: string; description: string }
  servers: { url: string }[]
  tags: { name: string; description: string }[]
  paths: Record<string, Record<string, Operation>>
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
  const menu = doc.tags.map(
    ({ name }) =>
      `<li><b>${escapeHtml(name)}</b><ul>${inTag(name)
        .map(({ operation }) => `<li><a href="#${operation.operationId}">${escapeHtml(operation.summary)}</a></li>`)
        .join('')}</ul></li>`,
  )
  const sections = doc.tags.map(
    ({ name, description }) =>
      `<section><h2>${escapeHtml(name)}</h2>${prose(description)}${inTag(name)
        .map(({ path, method, operation }) => article(path, method, operation))
        .join('')}</section>`,
  )
  const schemas = Object.entries(doc.components.schemas).map(
    ([name, schema]) =>
      `<article id="schema-${name}"><h3>${escapeHtml(name)}</h3>${prose(schema.description)}${fields(schema)}</article>`,
  )
  const security = Object.values(doc.components.securitySchemes).map((each) => prose(each.description))
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(doc.info.title)} reference</title><style>${style}</style></head>
<body><nav aria-label="Contents"><p><b>${escapeHtml(doc.info.title)}</b> <small>${escapeHtml(doc.info.version)}</small></p>
<ul>${menu.join('')}<li><b><a href="#schemas">Schemas</a></b></li><li><a href="/openapi.json">openapi.json</a></li></ul></nav>
<main><h1>${escapeHtml(doc.info.title)}</h1>${prose(doc.info.description)}
<p>Base address: <code>${escapeHtml(doc.servers[0]?.url ?? '')}</code></p><h2>Credentials</h2>${security.join('')}
${sections.join('')}<section id="schemas"><h2>Schemas</h2>${schemas.join('')}</section></main></body></html>`
}

function article(path: string, method: string, operation: Operation): string {
  const parameters = operation.parameters ?? []
  const body = operation.requestBody?.content['application/json'].schema
  const rows = parameters.map(
    (each) =>
      `<tr><td><code>${escapeHtml(each.name)}</code> <small>${each.in}${each.required ? ', required' : ''}</small></td><td>${typeName(each.schema)}</td><td>${inline(each.description)}</td></tr>`,
  )
  const responses = Object.entries(operation.responses).map(([status, { description, content }]) => {
    const schema = content?.['application/json']?.schema
    return `<tr><td><code class="s${status[0]}">${status}</code></td><td>${schema ? typeName(schema) : ''}</td><td>${inline(description)}</td></tr>`
  })
  return `<article id="${operation.operationId}"><h3>${escapeHtml(operation.summary)}</h3>
<p class="call"><b class="${method.toLowerCase()}">${method}</b> <code>${escapeHtml(path)}</code></p>${prose(operation.description)}
${rows.length > 0 ? `<h4>Parameters</h4>${table(rows)}` : ''}
${body ? `<h4>Body</h4>${body.$ref ? `<p>${typeName(body)}</p>` : fields(body)}` : ''}
<h4>Replies</h4>${table(responses)}</article>`
}

function fields({ properties = {}, required = [] }: Schema): string {
  const rows = Object.entries(properties).map(
    ([name, schema]) =>
      `<tr><td><code>${escapeHtml(name)}</code>${required.includes(name) ? '' : ' <small>optional</small>'}</td><td>${typeName(schema)}</td><td>${inline(schema.description)}${nested(schema)}</td></tr>`,
  )
  return rows.length > 0 ? table(rows) : ''
}

function nested(schema: Schema): string {
  const inner = schema.items ?? schema
  return !inner.$ref && inner.properties ? fields(inner) : ''
}

function typeName(schema: Schema): string {
  if (schema.$ref) {
    const name = schema.$ref.split('/').at(-1)!
    return `<a href="#schema-${name}">${escapeHtml(name)}</a>`
  }
  if (schema.anyOf) return schema.anyOf.map(typeName).join(' or ')
  if (schema.enum) return schema.enum.map((value) => `<code>${escapeHtml(String(value))}</code>`).join(' ')
  if (schema.items) return `array of ${typeName(schema.items)}`
  return escapeHtml(`${[schema.type ?? 'any'].flat().join(' or ')}${schema.format ? ` (${schema.format})` : ''}`)
}

function table(rows: readonly string[]): string {
  return `<div class="wide"><table>${rows.join('')}</table></div>`
}

function prose(text = ''): string {
  return text
    .split('\n\n')
    .filter(Boolean)
    .map((paragraph) => `<p>${inline(paragraph)}</p>`)
    .join('')
}

function inline(text = ''): string {
  return escapeHtml(text).replace(/`([^`]+)`/g, '<code>$1</code>')
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`)
}

const style = `
:root{color-scheme:light dark;--ink:light-dark(#1c2128,#e6e9ee);--soft:light-dark(#57606a,#9aa4b2);--paper:light-dark(#fff,#14181d);
--panel:light-dark(#f5f7f9,#1c2229);--line:light-dark(#d8dee4,#30363d);--link:light-dark(#0550ae,#79b8ff)}
*{box-sizing:border-box}html{scroll-behavior:smooth}
body{margin:0;font:16px/1.55 system-ui,sans-serif;color:var(--ink);background:var(--paper);display:grid;grid-template-columns:19rem minmax(0,1fr)}
nav{position:sticky;top:0;height:100vh;overflow:auto;padding:1.2rem;background:var(--panel);border-right:1px solid var(--line);font-size:.9rem}
nav ul{list-style:none;padding:0;margin:.2rem 0 .8rem}nav ul ul{padding-left:.8rem}
main{padding:1.5rem 2.5rem 6rem;max-width:66rem}a{color:var(--link);text-decoration:none}a:hover{text-decoration:underline}
h1{margin-top:0}h2{margin-top:3rem;border-bottom:1px solid var(--line);padding-bottom:.3rem}h4{margin:1.2rem 0 .4rem}
article{margin:1.5rem 0;padding:1px 1.2rem 1rem;border:1px solid var(--line);border-radius:10px}article:target{border-color:var(--link)}
code{font:.88em ui-monospace,monospace;background:var(--panel);padding:.1em .35em;border-radius:5px;overflow-wrap:anywhere}
small{color:var(--soft)}table{border-collapse:collapse;width:100%;font-size:.92rem}td{border-top:1px solid var(--line);padding:.45rem .6rem .45rem 0;vertical-align:top}
td:first-child{white-space:nowrap}td table td{font-size:.95em}.wide{overflow-x:auto}
.call b{font:700 .8rem ui-monospace,monospace;padding:.25em .6em;border-radius:6px;color:#fff;background:#57606a}
.call b.get{background:#0b6bcb}.call b.post{background:#1a7f37}.call b.put,.call b.patch{background:#9a6700}.call b.delete{background:#c2303b}
@media(max-width:60rem){body{display:block}nav{position:static;height:auto;border:0}main{padding:1rem}td:first-child{white-space:normal}}
`
