// The house stays in order: imports flow one way, one file reads the environment, files stay small and say what they are for.
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, extname, join } from 'node:path'
import { test } from 'node:test'

// A file may import from its own room and from those on lower floors; rooms on one floor do not know each other.
const floors: readonly (readonly string[])[] = [
  [
    'addresses',
    'config',
    'config-parsers',
    'context',
    'errors',
    'ids',
    'metrics',
    'money',
    'settings',
    'times',
    'version',
  ],
  ['db'],
  ['http', 'live'],
  ['partners'],
  ['webhooks', 'signing'],
  ['delivery', 'orders'],
  ['operator', 'sandbox'],
  ['documents'],
  ['service'],
  ['cli'],
  ['main'],
]
const ground = floors[0]!

const files = globSync('src/**/*.ts').sort()
const sources = new Map(files.map((file) => [file, readFileSync(file, 'utf8')]))

interface Import {
  readonly from: string
  readonly to: string
  readonly typeOnly: boolean
}

const imports: readonly Import[] = [...sources].flatMap(([from, source]) =>
  [...source.matchAll(/^(?:import|export)\s+(type\s)?[^;'"]*?from\s+'(\.[^']+)'/gm)].map(([, type, path]) => ({
    from,
    to: join(dirname(from), path!),
    typeOnly: type !== undefined,
  })),
)

test('every room has its floor', () => {
  const rooms = new Set(files.map(roomOf))
  assert.ok(rooms.size > 10 && imports.length > 100, 'the sources were found')
  for (const room of rooms) assert.ok(floorOf(room) >= 0, `give the room ${room} its floor in this test`)
})

test('imports only go down', () => {
  const wrong = imports.filter(({ from, to, typeOnly }) => {
    const [own, other] = [roomOf(from), roomOf(to)]
    if (own === other) return false
    if (ground.includes(own) && ground.includes(other)) return false
    if (from === 'src/context.ts' && to === 'src/db/db.ts' && typeOnly) return false // the context names the database's type
    return floorOf(other) >= floorOf(own)
  })
  assert.deepEqual(wrong, [])
})

test('no file needs itself, however far around', () => {
  const needs = Map.groupBy(
    imports.filter((each) => !each.typeOnly),
    (each) => each.from,
  )
  const walk = (file: string, path: readonly string[]): void => {
    assert.ok(!path.includes(file), `a circle: ${[...path, file].join(' → ')}`)
    for (const { to } of needs.get(file) ?? []) walk(to, [...path, file])
  }
  for (const file of files) walk(file, [])
})

test('only config.ts reads the environment', () => {
  const readers = [...sources].filter(([, source]) =>
    /\bprocess\s*\.\s*env\b|\bloadEnvFile\b/.test(withoutComments(source)),
  )
  assert.deepEqual(
    readers.map(([file]) => file),
    ['src/config.ts'],
  )
})

test('the console knows the service only by its API', () => {
  const consoleFiles = globSync('console/src/**/*.{ts,tsx}')
  assert.ok(consoleFiles.length > 50, 'the console was found')
  for (const file of consoleFiles) {
    for (const [, name] of readFileSync(file, 'utf8').matchAll(/(?:\bfrom |\bimport\(|^import )'([^']+)'/gm)) {
      const own = name!.startsWith('.') && join(dirname(file), name!).startsWith('console/src/')
      assert.ok(own || ['react', 'react-dom/client'].includes(name!), `${file} imports ${name}`)
    }
  }
})

const opening: Readonly<Record<string, RegExp>> = { '.sql': /^-- \S/, '.css': /^\/\* \S/ }

test('every source file opens with a comment and has at most 300 lines', () => {
  for (const file of globSync(['{src,scripts,test}/**/*.{ts,sql}', 'console/src/**/*.{ts,tsx,css}', 'console/*.ts'])) {
    const text = readFileSync(file, 'utf8')
    assert.match(text, opening[extname(file)] ?? /^\/\/ \S/, `${file} does not open with a comment`)
    if (file === 'src/db/schema.sql') continue // made by npm run generate
    assert.ok(text.split('\n').length <= 301, `${file} has more than 300 lines`)
  }
})

function roomOf(file: string): string {
  const [, first] = file.split('/')
  return first!.replace(/\.ts$/, '')
}

function floorOf(room: string): number {
  return floors.findIndex((rooms) => rooms.includes(room))
}

function withoutComments(source: string): string {
  return source.replace(/^\s*\/\/.*$/gm, '').replace(/\/\*[\s\S]*?\*\//g, '')
}
