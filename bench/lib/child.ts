// Parent and child: each contender, receiver and load generator is a process of its own, told what to do by calls over IPC, and
// measured by its own CPU clock.
import { type ChildProcess, fork } from 'node:child_process'

export interface Usage {
  readonly cpuSeconds: number
  readonly peakMegabytes: number
}

// biome-ignore lint/suspicious/noExplicitAny: every command has arguments and a result of its own
type Commands = Record<string, (args: any) => unknown>

// In the child: answers calls until the parent goes.
export function serveCommands(commands: Commands): void {
  const all: Commands = { ...commands, usage: readUsage }
  process.on('message', async ({ id, name, args }: { id: number; name: string; args: unknown }) => {
    try {
      process.send!({ id, result: await all[name]!(args) })
    } catch (error) {
      process.send!({ id, error: (error as Error).stack ?? String(error) })
    }
  })
  process.on('disconnect', () => process.exit())
}

function readUsage(): Usage {
  const { user, system } = process.cpuUsage()
  return { cpuSeconds: (user + system) / 1e6, peakMegabytes: process.resourceUsage().maxRSS / 1024 }
}

export interface Child {
  call<T = void>(name: string, args?: unknown): Promise<T>
  usage(): Promise<Usage>
  stop(): Promise<void>
}

// In the parent.
export function startChild(file: string, environment: Record<string, string> = {}): Child {
  const child: ChildProcess = fork(new URL(`../${file}`, import.meta.url), {
    env: { ...process.env, ...environment },
    serialization: 'advanced',
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const waiting = new Map<number, { resolve: (value: never) => void; reject: (error: Error) => void }>()
  let last = 0
  child.on('message', ({ id, result, error }: { id: number; result: never; error?: string }) => {
    const caller = waiting.get(id)
    waiting.delete(id)
    if (error === undefined) caller?.resolve(result)
    else caller?.reject(new Error(`${file}: ${error}`))
  })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  void ended.then(() => {
    for (const { reject } of waiting.values()) reject(new Error(`${file} ended`))
  })
  const call = <T>(name: string, args?: unknown) =>
    new Promise<T>((resolve, reject) => {
      waiting.set(++last, { resolve, reject })
      child.send({ id: last, name, args })
    })
  return {
    call,
    usage: () => call<Usage>('usage'),
    async stop() {
      child.disconnect() // it exits by itself, and so can leave a CPU profile behind
      await ended
    },
  }
}
