// What a step of a sequence means in a world: the call, with the ids of the orders and instructions that are there. Most steps aim
// at an order where they succeed, and where there is none they do what has to come first, so that sequences get somewhere.
import { apply, type Call, type Rules, type World } from './order-model.ts'
import type { Act } from './order-model-sequences.ts'

export interface Within {
  readonly rules: Rules
  readonly world: World
  readonly players: readonly string[]
  readonly orders: readonly string[] // whose ids are known, oldest first
  readonly earlier: readonly Call[] // that had a key
  readonly keyed: () => { key: string } // a new one
  readonly site: { readonly failing: boolean }
}

type OrderAct = Extract<Act, { at: object; partner: number }>

const comesFirst: Partial<Record<Act['do'], 'create' | 'confirm' | 'take' | 'complete'>> = {
  ...{ confirm: 'create', cancel: 'create', lapse: 'create', withdraw: 'confirm', take: 'confirm' },
  ...{ complete: 'take', fail: 'take', release: 'take', return: 'complete' },
}
const refusals = new Set(['insufficient_funds', 'invalid_destination'])
const unknownOrder = 'ord_00000000000000000000000000'
const unknownInstruction = 'oin_00000000000000000000000000'

// Undefined when there is nothing that it could mean.
export function callOf(act: Act, within: Within, sameAs?: Call): Call | undefined {
  const { world, players } = within
  // Whatever creates something has a key where answers get lost: without one, nobody could tell what it created.
  const creates = act.do === 'create' || act.do === 'topUp' || act.do === 'instruct'
  const key = act.keyed || (within.site.failing && creates) ? within.keyed() : {}
  const partner = 'partner' in act ? players[act.partner % players.length]! : ''
  switch (act.do) {
    case 'topUp': {
      return { do: 'topUp', operator: operatorOf(act), partner, ...act.money, reference: `in-${act.reference}`, ...key }
    }
    case 'instruct':
      return { do: 'instruct', partner, currency: act.currency, ...key }
    case 'forget': {
      const all = Object.keys(world.instructions)
      const waiting = Object.values(world.orders).filter(({ state }) => state === 'awaiting_confirmation')
      const used = waiting.find(({ link }) => act.nth < 2 && !world.instructions[link!]!.deleted)
      if (used) return { do: 'forget', partner: used.partner, instruction: used.link! }
      const create = {
        ...act,
        do: 'create',
        money: { currency: 'ARS', amount: '10.03' },
        reference: 0,
        nth: 0,
      } as const
      if (act.nth < 2) return callOf(create, within)
      return { do: 'forget', partner, instruction: newest(all, act.nth) ?? unknownInstruction }
    }
    case 'create': {
      const all = Object.keys(world.instructions)
      const { currency } = act.money
      const usable = all.filter((id) => {
        const { partner: owner, currency: its, deleted } = world.instructions[id]!
        return owner === partner && its === currency && !deleted
      })
      const aimed = act.nth < 3
      if (aimed && usable.length === 0) return { do: 'instruct', partner, currency, ...key }
      const instruction = newest(aimed ? usable : all, act.nth) ?? unknownInstruction
      const reference = act.reference === 0 ? null : `out-${act.reference}`
      return { do: 'create', partner, instruction, ...act.money, reference, ...key }
    }
    case 'again':
      return newest(within.earlier, act.nth)
    case 'misuse': {
      const earlier = newest(within.earlier, act.nth)
      if (!earlier) return undefined
      const order = newest(within.orders, act.at.nth) ?? unknownOrder
      return { ...unkeyed(callOn(order, { ...act, do: 'confirm', partner: 0 }, within)), key: earlier.key! }
    }
    default: {
      if (act.do === 'lapse' && within.rules.lapse === 'at any time') return undefined
      const call = sameAs && 'order' in sameAs ? callOn(sameAs.order, act, within) : aim(act, within)
      return 'order' in call && call.do !== 'lapse' ? { ...call, ...key } : call
    }
  }
}

function aim(act: OrderAct, within: Within, asked = act.do): Call {
  const { rules, world, orders } = within
  const { nth, aimed, stranger, money } = act.at
  const answered = (id: string) => apply(rules, world, callOn(id, act, within)).reply
  // Some are aimed at refusals that are not about the order's state.
  const special = orders.filter((id) => refusals.has(answered(id).code ?? ''))
  if (special.length > 0 && (!aimed || (asked === 'confirm' && !act.keyed)))
    return callOn(newest(special, nth)!, act, within)
  const good = aimed ? orders.filter((id) => answered(id).status < 300) : []
  const first = aimed && good.length === 0 && !stranger ? comesFirst[act.do] : undefined
  const poor = first && orders.find((id) => answered(id).code === 'insufficient_funds')
  if (poor) {
    const { partner, currency, amount } = world.orders[poor]!
    const reference = `for ${poor}`
    return { do: 'topUp', operator: operatorOf(act), partner, currency, amount, reference, ...within.keyed() }
  }
  if (first === 'create') {
    const create = (amount: string) => {
      const partner = nth < 2 ? 0 : 1
      const used = orders.some(
        (id) => world.orders[id]!.partner === within.players[partner] && world.orders[id]!.reference === 'out-1',
      )
      return callOf(
        { ...act, do: first, money: { ...money, amount }, reference: used ? 0 : 1, nth: 0, partner },
        within,
      )!
    }
    const wanted = create(money.amount)
    return apply(rules, world, wanted).reply.status < 300 ? wanted : create('10.03') // an amount that will do
  }
  if (first) return aim({ ...act, do: first }, within, asked)
  const withdrawals = orders.filter((id) => world.orders[id]!.operation === 'withdrawal')
  const any = nth < 3 && withdrawals.length > 0 ? withdrawals : orders
  return callOn(newest(good.length > 0 ? good : any, nth) ?? unknownOrder, act, within)
}

// Without a key.
function callOn(order: string, act: OrderAct, { world, players }: Within): Call {
  if (act.do === 'lapse') return { do: act.do, order }
  if (act.do !== 'confirm' && act.do !== 'cancel') return { do: act.do, operator: operatorOf(act), order }
  const owner = world.orders[order]?.partner
  const by = players.find((id) => (id === owner) !== act.at.stranger)
  return { do: act.do, partner: by ?? players[0]!, order }
}

function operatorOf({ partner }: { readonly partner: number }): string {
  return partner === 2 ? 'payer' : 'bootstrap'
}

function unkeyed(call: Call): Call {
  const { key, ...rest } = call
  return rest as Call
}

function newest<T>(all: readonly T[], nth: number): T | undefined {
  return all[all.length - 1 - (nth % Math.max(1, all.length))]
}
