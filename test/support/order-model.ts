// A simple model of orders and balances, written from the specification and knowing nothing of src/orders: what each call
// must be answered, and what it changes. Pure: a world in, a world and a reply out. Ids are told to it; times it leaves open.
import { book, type Currency, type Fee, feeOf, minorOf, shown } from './order-model-money.ts'
import { operatorView, view } from './order-model-views.ts'

export type Call = { readonly key?: string } & (
  | ({ readonly do: 'topUp'; readonly operator: string; readonly partner: string } & Money & {
        readonly reference: string
      })
  | { readonly do: 'instruct'; readonly partner: string; readonly currency: Currency }
  | { readonly do: 'forget'; readonly partner: string; readonly instruction: string }
  | ({ readonly do: 'create'; readonly partner: string; readonly instruction: string } & Money & {
        readonly reference: string | null
      })
  | { readonly do: 'confirm' | 'cancel'; readonly partner: string; readonly order: string }
  | { readonly do: OperatorAct; readonly operator: string; readonly order: string }
  | { readonly do: 'lapse'; readonly order: string } // its time to confirm is made to be over
)
export type OperatorAct = 'take' | 'complete' | 'fail' | 'release' | 'withdraw' | 'return' // withdraw: cancel by the operator
interface Money {
  readonly currency: Currency
  readonly amount: string
}

export interface Order {
  readonly id: string
  readonly partner: string
  readonly operation: 'withdrawal' | 'top_up' | 'withdrawal_return'
  readonly state: 'awaiting_confirmation' | 'pending' | 'processing' | 'completed' | 'cancelled'
  readonly reason: string | null
  readonly reference: string | null
  readonly currency: Currency
  readonly amount: string
  readonly fee: bigint // in the currency's smallest unit
  readonly link: string | null // the instruction, or the order that was returned
  readonly confirmed: boolean
  readonly takenBy: string | null // also after a release: the last one
  readonly lapsed: boolean
  readonly onRail: boolean
  readonly told: readonly Told[] // the events about it
}

export interface Told {
  readonly action: string
  readonly view: object
}

export interface Entry {
  readonly kind: string
  readonly order: string
  readonly available: bigint
  readonly held: bigint
}

export interface Account {
  readonly available: bigint
  readonly held: bigint
  readonly fees: bigint
  readonly payouts: bigint
  readonly topUps: bigint
  readonly entries: readonly Entry[]
}

export interface Rules {
  readonly rail: 'operator' | 'sandbox'
  readonly lapse: 'by hand' | 'at any time' // whether orders lapse only through the call of that name
  readonly fees: Readonly<Record<string, Readonly<Record<Currency, Fee>>>> // by partner
}

export interface World {
  readonly orders: Readonly<Record<string, Order>>
  readonly instructions: Readonly<Record<string, { partner: string; currency: Currency; deleted: boolean }>>
  readonly accounts: Readonly<Record<string, Account>> // by `partner currency`
  readonly remembered: Readonly<Record<string, { request: string; reply: Reply }>> // by `owner key`
}

export interface Reply {
  readonly status: number
  readonly code?: string
  readonly body?: object // without times
  readonly replayed?: boolean
}

export interface Outcome {
  readonly world: World
  readonly reply: Reply
}

export const nothing: World = { orders: {}, instructions: {}, accounts: {}, remembered: {} }

// `newId` is what the service called what this call creates.
export function apply(rules: Rules, world: World, call: Call, newId = '?'): Outcome {
  const { key, ...request } = call
  if (key === undefined) return carryOut(rules, world, call, newId)
  const place = `${'operator' in call ? call.operator : 'partner' in call ? call.partner : ''} ${key}`
  const before = world.remembered[place]
  if (before) {
    const same = before.request === JSON.stringify(request)
    return { world, reply: same ? { ...before.reply, replayed: true } : refusal(409, 'conflict') }
  }
  const outcome = carryOut(rules, world, call, newId)
  if (outcome.reply.status >= 300) return outcome
  const memory = { request: JSON.stringify(request), reply: outcome.reply }
  return { ...outcome, world: { ...outcome.world, remembered: { ...outcome.world.remembered, [place]: memory } } }
}

function carryOut(rules: Rules, world: World, call: Call, newId: string): Outcome {
  const refuse = (status: number, code: string): Outcome => ({ world, reply: refusal(status, code) })
  switch (call.do) {
    case 'topUp': {
      const amount = minorOf(call.amount, call.currency)
      if (amount === undefined || amount === 0n) return refuse(400, 'invalid_parameters')
      if (isUsed(world, 'top_up', call)) return refuse(409, 'conflict')
      const { partner, currency, reference } = call
      return creditOrder(
        world,
        { id: newId, operation: 'top_up', partner, currency, reference, link: null },
        call.amount,
      )
    }
    case 'instruct': {
      const { partner, currency } = call
      const instructions = { ...world.instructions, [newId]: { partner, currency, deleted: false } }
      return { world: { ...world, instructions }, reply: { status: 201, body: { id: newId, currency } } }
    }
    case 'forget': {
      const known = world.instructions[call.instruction]
      if (known?.partner !== call.partner || known.deleted) return refuse(404, 'not_found')
      const instructions = { ...world.instructions, [call.instruction]: { ...known, deleted: true } }
      return { world: { ...world, instructions }, reply: { status: 204 } }
    }
    case 'create': {
      const { partner, currency, amount: text, reference, instruction } = call
      const amount = minorOf(text, currency)
      if (amount === undefined || amount === 0n) return refuse(400, 'invalid_parameters')
      const to = world.instructions[instruction]
      if (to?.partner !== partner || to.deleted || to.currency !== currency) return refuse(400, 'invalid_destination')
      const fee = feeOf(text, rules.fees[partner]![currency], currency)
      if (fee >= amount) return refuse(400, 'invalid_parameters')
      if (isUsed(world, 'withdrawal', call)) return refuse(409, 'conflict')
      const order = newOrder(
        { id: newId, operation: 'withdrawal', partner, currency, reference, link: instruction },
        text,
      )
      const made = tell({ ...order, fee }, 'created')
      return { world: withOrder(world, made), reply: { status: 201, body: view(made) } }
    }
    case 'lapse': {
      const order = world.orders[call.order]
      if (order?.state !== 'awaiting_confirmation') return { world, reply: { status: 404 } }
      return { world: withOrder(world, { ...order, lapsed: true }), reply: { status: 200 } }
    }
    default: {
      const order = world.orders[call.order]
      if (!order || ('partner' in call && order.partner !== call.partner)) return refuse(404, 'not_found')
      const who = 'operator' in call ? call.operator : null
      const changed = change(world, order, call.do, who, rules)
      if (typeof changed === 'string') return refuse(400, changed)
      const body =
        who === null ? view(changed.order) : call.do === 'return' ? view(changed.order) : operatorView(changed.order)
      return { world: changed.world, reply: { status: call.do === 'return' ? 201 : 200, body } }
    }
  }
}

type Changed = { readonly world: World; readonly order: Order }
type Act = 'confirm' | 'cancel' | OperatorAct

// What a call does to an order, or the code of its refusal.
function change(world: World, order: Order, act: Act, who: string | null, rules: Rules): Changed | string {
  const { state } = order
  const same = { world, order }
  const now = (fields: Partial<Order>, entry?: string): Changed =>
    moved(world, { ...order, onRail: false, ...fields }, entry)
  const closed = (reason: string, entry?: string) => now({ state: 'cancelled', reason }, entry)
  if (order.operation === 'withdrawal') {
    switch (act) {
      case 'confirm': {
        if (state !== 'awaiting_confirmation' || order.lapsed) break
        if (world.instructions[order.link!]!.deleted) return 'invalid_destination'
        const funds = world.accounts[`${order.partner} ${order.currency}`]?.available ?? 0n
        if (funds < minorOf(order.amount, order.currency)!) return 'insufficient_funds'
        return now({ state: 'pending', confirmed: true, onRail: rules.rail === 'sandbox' }, 'hold')
      }
      case 'cancel':
        if (state === 'awaiting_confirmation') return closed('cancelled_by_partner')
        break
      case 'withdraw':
        if (state === 'awaiting_confirmation') return closed('cancelled_by_operator')
        if (state === 'pending') return closed('cancelled_by_operator', 'release')
        break
      case 'take':
        if (state === 'pending') return now({ state: 'processing', takenBy: who })
        if (state === 'processing' && order.takenBy === who) return same
        break
      case 'release':
        if (state === 'processing') return now({ state: 'pending' })
        break
      case 'complete':
        if (state === 'processing') return now({ state: 'completed' }, 'payout')
        if (state === 'completed') return same
        break
      case 'fail':
        if (state === 'processing') return closed('payout_failed', 'release')
        if (order.reason === 'payout_failed') return same
        break
      case 'return': {
        if (state !== 'completed') break
        const { partner, currency } = order
        const id = returnOf(order.id)
        const before = world.orders[id]
        if (before) return { world, order: before }
        const text = shown(minorOf(order.amount, currency)! - order.fee, currency, order.amount)
        const linked = {
          id,
          operation: 'withdrawal_return',
          partner,
          currency,
          reference: null,
          link: order.id,
        } as const
        const after = creditOrder(withOrder(world, { ...order, onRail: false }), linked, text).world
        return { world: after, order: after.orders[id]! }
      }
    }
  }
  return 'invalid_order_state'
}

// What happens to an order without a call: the next such step, if there is one.
export function nextByItself(rules: Rules, world: World, id: string): World | undefined {
  const order = world.orders[id]
  if (!order) return undefined
  const { state, amount } = order
  if (state === 'awaiting_confirmation') {
    if (order.lapsed) return moved(world, { ...order, state: 'cancelled', reason: 'expired' }).world
    return rules.lapse === 'at any time' ? withOrder(world, { ...order, lapsed: true }) : undefined
  }
  if (!order.onRail) return undefined
  const rail = (act: OperatorAct, onRail: boolean) => {
    const { world: after } = change(world, order, act, 'sandbox rail', rules) as Changed
    return withOrder(after, { ...after.orders[id]!, onRail })
  }
  if (state === 'pending') return rail('take', true)
  if (state === 'completed') return rail('return', false)
  if (amount.endsWith('.02')) return undefined
  return amount.endsWith('.01') ? rail('fail', false) : rail('complete', amount.endsWith('.03'))
}

export function returnOf(orderId: string): string {
  return `return of ${orderId}`
}

type Beginning = Pick<Order, 'id' | 'operation' | 'partner' | 'currency' | 'reference' | 'link'>

function newOrder(beginning: Beginning, amount: string): Order {
  const blank = { reason: null, fee: 0n, confirmed: false, takenBy: null, lapsed: false, onRail: false, told: [] }
  return { ...beginning, ...blank, state: 'awaiting_confirmation', amount }
}

function creditOrder(world: World, beginning: Beginning, amount: string): Outcome {
  const order = { ...newOrder(beginning, amount), state: 'completed', confirmed: true } as const
  const made = tell(tell(order, 'created'), 'closed')
  const after = posted(withOrder(world, made), made, beginning.operation === 'top_up' ? 'top_up' : 'return')
  return { world: after, reply: { status: 201, body: view(made) } }
}

function moved(world: World, order: Order, entry?: string): Changed {
  const told = tell(order, order.state === 'completed' || order.state === 'cancelled' ? 'closed' : 'updated')
  const after = withOrder(world, told)
  return { world: entry ? posted(after, told, entry) : after, order: told }
}

function posted(world: World, order: Order, kind: string): World {
  const place = `${order.partner} ${order.currency}`
  return { ...world, accounts: { ...world.accounts, [place]: book(world.accounts[place], order, kind) } }
}

function tell(order: Order, what: string): Order {
  return { ...order, told: [...order.told, { action: `partner-order-${what}`, view: view(order) }] }
}

function withOrder(world: World, order: Order): World {
  return { ...world, orders: { ...world.orders, [order.id]: order } }
}

function isUsed(
  world: World,
  operation: string,
  { partner, reference }: { partner: string; reference: string | null },
) {
  const used = (each: Order) => each.partner === partner && each.operation === operation && each.reference === reference
  return reference !== null && Object.values(world.orders).some(used)
}

function refusal(status: number, code: string): Reply {
  return { status, code }
}
