// For tests about processes: run a command to its end, start the service without waiting for its log, wait for something to
// become true.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { TestDatabase } from '../support/database.ts'

export interface Run {
  readonly child: ChildProcess
  readonly output: () => string
  readonly log: () => string
  readonly ended: Promise<number | null> // its exit code; null when a signal ended it
}

export function run(database: TestDatabase, args: readonly string[], environment: Record<string, string> = {}): Run {
  const child = spawn(process.execPath, ['src/main.ts', ...args], {
    env: {
      PATH: process.env.PATH ?? '',
      PORT: '0',
      OPERATOR_PORT: '0',
      HOST: '127.0.0.1',
      RATE_LIMIT: 'off',
      ...database.environment,
      ...environment,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  let log = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk))
  child.stderr.on('data', (chunk: Buffer) => (log += chunk))
  const ended = once(child, 'close').then(() => child.exitCode)
  return { child, output: () => output, log: () => log, ended }
}

// The deadline is for a broken service, not for a slow machine.
export async function until<T>(
  what: string,
  check: () => Promise<T | undefined | false>,
  withinMs = 60_000,
): Promise<T> {
  const deadline = performance.now() + withinMs
  for (;;) {
    const result = await check()
    if (result !== undefined && result !== false) return result
    if (performance.now() > deadline) throw new Error(`waited ${withinMs / 1_000} s in vain until ${what}`)
    await sleep(50)
  }
}
