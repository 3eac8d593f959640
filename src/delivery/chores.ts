// Chores are done one after the other, never two at a time; one that waits already is not queued twice.
export interface Chores {
  add(name: string, work: () => Promise<void>): void
  idle(): Promise<void>
}

export function createChores(warn: (error: Error) => void): Chores {
  const waiting = new Set<string>()
  let last: Promise<void> = Promise.resolve()
  return {
    add(name, work) {
      if (waiting.has(name)) return
      waiting.add(name)
      last = last
        .then(() => {
          waiting.delete(name)
          return work()
        })
        .catch(warn)
    },
    idle: () => last,
  }
}
