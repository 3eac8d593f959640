// A subscriber's endpoint in a process of its own, so that killing or stopping anything else does not touch it. It keeps every
// arrival; the test asks for them and says how to answer.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { testAuthority } from './endpoint.ts'

export interface Arrival {
  readonly number: number // in the order of arrival; the answer's body carries it
  readonly path: string
  readonly eventId: string
  readonly attempt: number
  readonly port: number // the sender's
  readonly signedAt: number // when the sender began the attempt: the signature's `iat`, in whole seconds, never later than it was
  readonly at: number
  endedAt: number | null // answered, or given up by the sender; null while in flight
  status: number | null // what it was answered; null when the sender had gone
}

export interface Behaviour {
  readonly delayMs?: readonly [least: number, most: number]
  readonly failShare?: number // of arrivals that are answered 500
  readonly repeatDelayMs?: number // for an attempt that has arrived before, so that it is still in flight when its first sender comes back
}

export type ToReceiver =
  | { kind: 'start'; cert: string; key: string }
  | { kind: 'behave'; behaviour: Behaviour }
  | { kind: 'arrivals'; from: number }
export type FromReceiver =
  | { kind: 'started'; port: number }
  | { kind: 'behaves' }
  | { kind: 'arrivals'; from: number; arrivals: Arrival[] }

export interface Receiver {
  readonly port: number
  url(path: string): string
  behave(behaviour: Behaviour): Promise<void>
  arrivals(): Promise<readonly Arrival[]>
}

export async function startReceiver(
  t: { after(work: () => void): void },
  behaviour: Behaviour = {},
): Promise<Receiver> {
  const { cert, key } = await (await testAuthority()).issue(['localhost', '127.0.0.1'])
  const child = fork(new URL('./receiver-process.ts', import.meta.url), {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  t.after(() => void child.kill('SIGKILL'))
  let turn: Promise<unknown> = Promise.resolve()
  const ask = <K extends FromReceiver['kind']>(message: ToReceiver): Promise<FromReceiver & { kind: K }> => {
    const answer = turn.then(async () => {
      child.send(message)
      const [reply] = await once(child, 'message')
      return reply
    })
    turn = answer.catch(() => {})
    return answer
  }
  const { port } = await ask<'started'>({ kind: 'start', cert, key })
  await ask({ kind: 'behave', behaviour })

  const known: Arrival[] = []
  let ended = 0 // all arrivals before this one have ended: they do not change any more
  return {
    port,
    url: (path) => `https://localhost:${port}${path}`,
    async behave(next) {
      await ask({ kind: 'behave', behaviour: next })
    },
    async arrivals() {
      const { from, arrivals } = await ask<'arrivals'>({ kind: 'arrivals', from: ended })
      known.splice(from, Number.POSITIVE_INFINITY, ...arrivals)
      while (ended < known.length && known[ended]!.endedAt !== null) ended++
      return known
    },
  }
}
