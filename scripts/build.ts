// `npm run build`: the sources as JavaScript in dist/, for the published package (Node runs no TypeScript inside node_modules),
// with the migrations
// beside them; and the console.
import { execFileSync } from 'node:child_process'
import { cpSync, rmSync } from 'node:fs'
import { buildConsole } from './console.ts'

rmSync('dist', { recursive: true, force: true })
execFileSync('tsc', ['--project', 'tsconfig.build.json'], { stdio: 'inherit' })
cpSync('src/db/migrations', 'dist/db/migrations', { recursive: true })
await buildConsole()
