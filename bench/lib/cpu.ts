// CPU time of other processes, as the kernel counts it.
import { readFileSync } from 'node:fs'

const ticksPerSecond = 100

export function cpuSecondsOf(pid: number): number {
  const [user, system] = timesOf(pid)
  return (user + system) / ticksPerSecond
}

// A server with its living children, and those that it has seen end.
export function treeCpuSecondsOf(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(/\s+/).filter(Boolean)
  let sum = timesOf(pid).reduce((total, each) => total + each, 0) / ticksPerSecond
  for (const child of children) {
    try {
      sum += cpuSecondsOf(Number(child))
    } catch {
      // ended in this moment
    }
  }
  return sum
}

// User and system time of the process, then of its ended children.
function timesOf(pid: number): [number, number, number, number] {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ')
    .map(Number)
  return [fields[11]!, fields[12]!, fields[13]!, fields[14]!]
}
