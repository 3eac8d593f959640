// Explains what was answered: which worlds are possible after calls that ran at once, some of whose answers got lost. Every way
// in which they may have happened one after another is tried; when none fits the answers, the service is wrong.
import { isDeepStrictEqual } from 'node:util'
import { apply, type Call, nextByItself, type Reply, type Rules, type World } from './order-model.ts'

// One caller's attempts at one call: those without an answer, and then one with.
export interface Attempts {
  readonly call: Call
  readonly lost: number
  readonly answer: Reply
  readonly newId: string | undefined // what the answer says was created
}

const mostLost = 2 // more attempts than that make no difference: each call changes an order at most once before another does
const mostByItself = 4

export function explain(rules: Rules, worlds: readonly World[], threads: readonly Attempts[]): World[] {
  const found: World[] = []
  const search = (world: World, left: readonly Attempts[]): void => {
    if (left.length === 0) return void found.push(world)
    left.forEach((attempts, i) => {
      const others = left.filter((_, j) => j !== i)
      const { call, lost, answer, newId } = attempts
      if (lost > 0) search(world, [...others, { ...attempts, lost: lost - 1 }]) // it was never carried out
      const order = 'order' in call ? call.order : undefined
      let now: World | undefined = world
      for (let steps = 0; now && steps <= mostByItself; steps++) {
        const outcome = apply(rules, now, call, newId)
        if (lost > 0) {
          if (outcome.world !== now) search(outcome.world, [...others, { ...attempts, lost: lost - 1 }])
        } else if (fits(outcome.reply, answer)) {
          search(outcome.world, others)
          if (answer.status >= 300) return // it changed nothing: what happens by itself may as well happen later
        }
        now = order === undefined ? undefined : nextByItself(rules, now, order)
      }
    })
  }
  const start = threads.map((each) => ({ ...each, lost: Math.min(each.lost, mostLost) }))
  for (const world of worlds) search(world, start)
  // Mostly there is only one explanation, or two that come to the same.
  return found.length < 2 ? found : [...new Map(found.map((world) => [fingerprint(world), world])).values()]
}

// Every world as it is once nothing more happens by itself.
export function atRest(rules: Rules, world: World): World {
  let now = world
  for (const id of Object.keys(world.orders)) {
    for (let next = nextByItself(rules, now, id); next; next = nextByItself(rules, now, id)) now = next
  }
  return now
}

export function fits(expected: Reply, answer: Reply): boolean {
  return (
    expected.status === answer.status &&
    expected.code === answer.code &&
    (expected.replayed ?? false) === (answer.replayed ?? false) &&
    isDeepStrictEqual(expected.body, answer.body)
  )
}

function fingerprint(world: World): string {
  const sorted = (_: string, value: unknown) => {
    if (typeof value === 'bigint') return `${value}n`
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
    return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
  }
  return JSON.stringify(world, sorted)
}
