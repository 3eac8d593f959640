// Chance for crash tests: random moments that can be had again, because the seed is printed and CRASH_SEED sets it.
export interface Random {
  between(least: number, most: number): number // whole
  chance(share: number): boolean
  pick<T>(from: readonly T[]): T
}

export function createRandom(name: string): Random {
  const seed = Number(process.env.CRASH_SEED ?? Math.floor(Math.random() * 2 ** 31))
  process.stderr.write(`${name}: CRASH_SEED=${seed}\n`)
  let state = seed
  // mulberry32
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
  const between = (least: number, most: number) => least + Math.floor(next() * (most - least + 1))
  return { between, chance: (share) => next() < share, pick: (from) => from[between(0, from.length - 1)]! }
}
