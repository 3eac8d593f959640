// What all workloads stand on: PostgreSQL that really writes to disk, Redis servers, a certificate authority, the receiver.
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { createAuthority } from '../../test/support/certificates.ts'
import { freePort, startPostgres } from '../../test/support/postgres.ts'
import { type Child, startChild } from './child.ts'
import { treeCpuSecondsOf } from './cpu.ts'

export interface Stage {
  readonly caFile: string
  readonly receiver: Child
  urls(count: number): Promise<string[]> // endpoints that answer
  database(): Promise<string> // a fresh one
  redis(appendfsync: 'always' | 'everysec'): Promise<number> // the port of an empty one
  folder(): string
  databaseCpuSeconds(): number
  close(): Promise<void>
}

export async function setStage(): Promise<Stage> {
  const authority = await createAuthority()
  const { cert, key } = await authority.issue(['127.0.0.1', 'localhost'])
  // Durable, as in production: fsync and synchronous commits; memory as a small server would have it.
  const postgres = await startPostgres([
    ...['fsync=on', 'synchronous_commit=on', 'shared_buffers=512MB', 'max_wal_size=4GB', 'checkpoint_timeout=15min'],
  ])
  const receiver = startChild('receiver.ts')
  const folders: string[] = []
  const servers: { stop: () => void }[] = []
  const redisPorts = new Map<string, number>()
  const folder = () => {
    const made = mkdtempSync(join(tmpdir(), 'partner-service-bench-'))
    folders.push(made)
    return made
  }
  const onServer = async (sql: string) => {
    const client = new pg.Client({ connectionString: postgres.url() })
    await client.connect()
    await client.query(sql)
    await client.end()
  }
  let made = 0
  return {
    caFile: authority.file,
    receiver,
    async urls(count) {
      const ports = await receiver.call<number[]>('listen', { cert, key, count })
      return ports.map((port) => `https://127.0.0.1:${port}/hook`)
    },
    async database() {
      if (made > 0) await onServer(`drop database bench_${made} with (force)`)
      await onServer(`create database bench_${++made}`)
      await onServer('checkpoint')
      return postgres.url(`bench_${made}`)
    },
    async redis(appendfsync) {
      const known = redisPorts.get(appendfsync)
      if (known !== undefined) {
        execFileSync('redis-cli', ['-p', String(known), 'flushall'])
        return known
      }
      const port = await freePort()
      const server = spawn(
        'redis-server',
        ['--port', String(port), '--dir', folder(), '--appendonly', 'yes', '--appendfsync', appendfsync, '--save', ''],
        { stdio: 'ignore' },
      )
      servers.push({ stop: () => server.kill('SIGKILL') })
      await answering(port)
      redisPorts.set(appendfsync, port)
      return port
    },
    folder,
    databaseCpuSeconds: () => treeCpuSecondsOf(postgres.pid()),
    async close() {
      await receiver.stop()
      for (const server of servers) server.stop()
      await postgres.remove()
      for (const each of folders) rmSync(each, { recursive: true, force: true })
    },
  }
}

async function answering(port: number): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    const ok = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false))
      socket.unref()
    })
    if (ok) return
    await sleep(50)
  }
  throw new Error('redis-server did not start')
}
