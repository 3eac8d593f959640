// The built console, served from memory: one page for every address of the application, and the files it loads, compressed when it
// was built. Nothing outside of the folder can be asked for: what is not in the list does not exist.
import { globSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import type { FastifyRequest } from 'fastify'
import { fail } from '../errors.ts'
import { type Reply, type Route, route } from './route.ts'

const define = route<undefined>()

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.json': 'application/json; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
}

const guards = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'",
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
}

interface StaticFile {
  readonly type: string
  readonly plain: Buffer
  readonly brotli: Buffer | undefined
  readonly gzip: Buffer | undefined
}

export interface ConsoleOptions {
  readonly folder: string // where the build lies
  readonly listener: 'partner' | 'operator' // the page is told which one serves it
}

export interface ServedConsole {
  readonly routes: Route<undefined>[]
  readonly fallback: (request: FastifyRequest) => Reply | undefined // what else is the console's
}

// On the partner listener the application is at /console and below. On the operator's it is at /, where other things are as well: there
// it gets what nothing else answers, files that exist and pages that a browser asks for.
export function serveConsole({ folder, listener }: ConsoleOptions): ServedConsole {
  const files = readFiles(folder)
  const built = files.get('index.html')
  const page = built ? pageFor(listener, built.plain.toString()) : missingPage()
  const find = (request: FastifyRequest): Reply | undefined => {
    const path = request.url.split('?', 1)[0]!.replace(/^\/(console(\/|$))?/, '')
    const file = path === 'index.html' ? undefined : files.get(path)
    if (file) return send(request, file, path.startsWith('assets/') ? forGood : 'public, max-age=3600')
    const isAddress = path === 'index.html' || !path.split('/').at(-1)!.includes('.')
    return isAddress ? { ...send(request, page, 'no-cache'), status: built ? 200 : 503 } : undefined
  }
  const handle = ({ request }: { request: FastifyRequest }): Reply => {
    const reply = find(request)
    if (!reply) throw fail('not_found')
    return reply
  }
  const at = (path: string, id: string) =>
    define({
      ...{ method: 'GET' as const, path, id, tag: 'Service', summary: 'The console', access: undefined, replies: {} },
      handle,
    })
  if (listener === 'partner')
    return { routes: [at('/console', 'console'), at('/console/*', 'consoleFiles')], fallback: () => undefined }
  return {
    routes: [at('/', 'console')],
    fallback: (request) => (mayBeConsole(request) ? find(request) : undefined),
  }
}

const forGood = 'public, max-age=31536000, immutable'

function mayBeConsole({ method, url, headers }: FastifyRequest): boolean {
  if ((method !== 'GET' && method !== 'HEAD') || /^\/operator(\/|$)/.test(url)) return false
  return url.startsWith('/console/') || /\btext\/html\b/.test(headers.accept ?? '')
}

// What was compressed beside a file is that file's; the build makes it.
function readFiles(folder: string): Map<string, StaticFile> {
  const names = globSync('**/*.*', { cwd: folder }).map((name) => name.replaceAll('\\', '/'))
  const read = (name: string) => (names.includes(name) ? readFileSync(join(folder, name)) : undefined)
  return new Map(
    names.flatMap((name) => {
      const type = types[extname(name)]
      if (type === undefined) return []
      return [[name, { type, plain: read(name)!, brotli: read(`${name}.br`), gzip: read(`${name}.gz`) }] as const]
    }),
  )
}

function send(request: FastifyRequest, { type, plain, brotli, gzip }: StaticFile, cacheControl: string): Reply {
  const accepted = request.headers['accept-encoding'] ?? ''
  const accepts = (coding: string) =>
    new RegExp(`\\b${coding}\\b(?!\\s*;\\s*q=0(\\.0+)?\\s*(,|$))`).test(String(accepted))
  const [body, coding] =
    brotli && accepts('br') ? [brotli, 'br'] : gzip && accepts('gzip') ? [gzip, 'gzip'] : [plain, undefined]
  return {
    status: 200,
    body,
    headers: {
      ...guards,
      'content-type': type,
      'cache-control': cacheControl,
      ...(brotli || gzip ? { vary: 'accept-encoding' } : {}),
      ...(coding ? { 'content-encoding': coding } : {}),
    },
  }
}

function pageFor(listener: string, html: string): StaticFile {
  return compressed(html.replace(/(<meta name="console" content=")[^"]*/, `$1${listener}`))
}

function missingPage(): StaticFile {
  return compressed(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Console</title></head>
<body><h1>The console has not been built</h1>
<p>Run <code>npm run build:console</code> in the folder of the service, then start it again.</p>
<p>The API works without it: see <a href="/docs">the reference</a>.</p></body></html>`)
}

function compressed(html: string): StaticFile {
  const plain = Buffer.from(html)
  return { type: types['.html']!, plain, brotli: brotliCompressSync(plain), gzip: gzipSync(plain) }
}
