// `npm run build:console`: the console as static files in console/dist, with compressed copies beside them that the service sends as
// they are. With --when-needed (before `npm start`) only when it is missing or older than its sources.
import {
  chmodSync,
  cpSync,
  existsSync,
  globSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { argv } from 'node:process'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

const home = join(import.meta.dirname, '../console')
export const builtConsole = join(home, 'dist')
const fonts = ['geist', 'geist-mono'] // their licence asks to go with them

export function isBuilt(dist = builtConsole): boolean {
  const page = join(dist, 'index.html')
  if (!existsSync(page)) return false
  const sources = globSync(['src/**/*.*', 'public/**/*.*', '*.html', '*.ts', '../package-lock.json'], { cwd: home })
  const builtAt = statSync(page).mtimeMs
  return sources.every((file) => statSync(join(home, file)).mtimeMs <= builtAt)
}

// Beside the old one first, then in its place: a service that starts meanwhile finds one or the other, whole.
export async function buildConsole(dist = builtConsole): Promise<void> {
  const { build } = await import('vite')
  const folder = mkdtempSync(`${dist}-`)
  const old = `${folder}-old`
  try {
    await build({ configFile: join(home, 'vite.config.ts'), build: { outDir: folder, emptyOutDir: true } })
    for (const font of fonts) {
      const licence = join(home, '../node_modules/@fontsource-variable', font, 'LICENSE')
      cpSync(licence, join(folder, `assets/${font}-licence.txt`))
    }
    for (const file of globSync('**/*.{js,css,svg,txt}', { cwd: folder })) compress(join(folder, file))
    chmodSync(folder, 0o755) // made for its owner only
    if (existsSync(dist)) renameSync(dist, old)
    renameSync(folder, dist)
  } finally {
    for (const each of [folder, old]) rmSync(each, { recursive: true, force: true })
  }
}

function compress(file: string): void {
  const bytes = readFileSync(file)
  const brotli = { params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length } }
  writeFileSync(`${file}.br`, brotliCompressSync(bytes, brotli))
  writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }))
}

if (import.meta.main) {
  if (!argv.includes('--when-needed')) await buildConsole()
  else if (!isBuilt()) {
    // An install without development dependencies cannot build it; the service then says so where the console would be.
    await buildConsole().catch((error: Error & { code?: string }) => {
      if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error
      process.stderr.write('The console cannot be built without the development dependencies (npm ci).\n')
    })
  }
}
