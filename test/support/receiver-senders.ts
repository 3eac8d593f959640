// Which process sent an arrival: a connection belongs to one process, and Linux tells which. Looked at often, because
// connections come and go.
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import type { Arrival } from './receiver.ts'

export interface Senders {
  look(): void
  of(arrival: Arrival): number | undefined // the process id
}

export function watchSenders(
  t: { after(work: () => void): void },
  receiverPort: number,
  pids: () => readonly number[],
): Senders {
  const seen: { readonly port: number; readonly pid: number; readonly from: number; until: number }[] = []
  const look = () => {
    const sockets = new Map<string, number>() // inode → local port
    for (const line of readFileSync('/proc/net/tcp', 'utf8').split('\n').slice(1)) {
      const [, local = '', remote = '', , , , , , , inode = ''] = line.trim().split(/\s+/)
      if (portOf(remote) === receiverPort) sockets.set(inode, portOf(local))
    }
    const now = Date.now()
    for (const pid of pids()) {
      for (const inode of socketsOf(pid)) {
        const port = sockets.get(inode)
        if (port === undefined) continue
        const known = seen.findLast((each) => each.port === port)
        if (known?.pid === pid) known.until = now
        else seen.push({ port, pid, from: now, until: now })
      }
    }
  }
  const timer = setInterval(look, 100)
  t.after(() => clearInterval(timer))
  // The connection is made before the arrival and may have been seen only after it.
  const near = 2_000
  return {
    look,
    of: ({ port, at }) =>
      seen.findLast((each) => each.port === port && at >= each.from - near && at <= each.until + near)?.pid,
  }
}

function portOf(address: string): number {
  return Number.parseInt(address.split(':')[1] ?? '0', 16)
}

function socketsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? []
      } catch {
        return [] // closed in this moment
      }
    })
  } catch {
    return [] // ended in this moment
  }
}
