// Plays a sequence at a site, step by step, holding every answer against the model; afterwards holds everything the service
// shows against it. When something differs, the error tells the whole story.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { Body } from './client.ts'
import { eventually } from './endpoint.ts'
import { apply, type Call, nothing, type Order, type Rules, type World } from './order-model.ts'
import { type Books, checkBooks, checkShown, type Shown } from './order-model-check.ts'
import { currencies } from './order-model-money.ts'
import { type Attempts, atRest, explain } from './order-model-search.ts'
import type { Act, Sequence, Step } from './order-model-sequences.ts'
import { type Answer, newPlayer, type Player, read, type Site, send } from './order-model-site.ts'
import { partnerPart, plain } from './order-model-views.ts'

export interface Story {
  readonly players: readonly Player[]
  readonly worlds: readonly World[] // that explain everything so far
  readonly shown: Shown
  readonly log: readonly string[]
  readonly lost: number // attempts without an answer
}

export type Tally = Map<string, number> // how often each call was answered in each way

// What comes before what.
const before: Partial<Record<Act['do'], 'create' | 'confirm' | 'take' | 'complete'>> = {
  ...{ confirm: 'create', cancel: 'create', lapse: 'create', withdraw: 'confirm', take: 'confirm' },
  ...{ complete: 'take', fail: 'take', release: 'take', return: 'complete' },
}

const unknownOrder = 'ord_00000000000000000000000000'

export async function play(site: Site, { fees, steps }: Sequence, tally: Tally = new Map()): Promise<Story> {
  const players = await Promise.all(fees.map((each) => newPlayer(site, each)))
  const rules: Rules = { ...site, fees: Object.fromEntries(players.map(({ id }, i) => [id, fees[i]!])) }
  const nonce = randomBytes(6).toString('hex')
  const realIds = new Map<string, string>()
  const realId = (id: string) => realIds.get(id) ?? id
  const log: string[] = []
  const replies: Shown['replies'] = []
  const payoutIds = new Map<string, string>()
  const keyedCalls: Call[] = []
  let worlds: readonly World[] = [nothing]
  let lost = 0
  let keys = 0

  const perform = async (calls: readonly Call[]) => {
    const worldsBefore = worlds
    const threads = await Promise.all(calls.map(attempt))
    worlds = explain(rules, worldsBefore, threads)
    if (worlds.length > 0) return
    const says = threads.map(({ call, newId }) => JSON.stringify(apply(rules, worldsBefore[0]!, call, newId).reply))
    throw new Error(`no order of events explains these answers; by itself the model would say:\n  ${says.join('\n  ')}`)
  }

  const attempt = async (call: Call): Promise<Attempts> => {
    let answer: Answer | undefined
    let tries = 0
    await eventually(
      async () => {
        tries++
        answer = await send(site, players, call, realId)
        return answer !== undefined
      },
      `an answer to ${JSON.stringify(call)}`,
    )
    const { raw, ...plainAnswer } = answer!
    lost += tries - 1
    log.push(`${JSON.stringify(call)} → ${JSON.stringify(plainAnswer)}${tries > 1 ? ` (at try ${tries})` : ''}`)
    const outcome = `${call.do} ${plainAnswer.code ?? plainAnswer.status}${plainAnswer.replayed ? ' again' : ''}`
    tally.set(outcome, (tally.get(outcome) ?? 0) + 1)
    if (plainAnswer.status < 300 && raw && call.do !== 'instruct') hear(raw, plainAnswer.body as Order)
    return { call, lost: tries - 1, answer: plainAnswer, newId: plainAnswer.status === 201 ? raw.id : undefined }
  }

  const hear = (raw: Answer['raw'], { id }: { id: string }) => {
    assert.equal(realIds.get(id) ?? raw.id, raw.id, 'an order keeps its id')
    realIds.set(id, raw.id)
    replies.push({ id, order: partnerPart(raw) })
    if (!raw.payout_id) return
    assert.equal(payoutIds.get(id) ?? raw.payout_id, raw.payout_id, 'an order keeps its payout id')
    payoutIds.set(id, raw.payout_id)
  }

  // The call that a step means in the world as it is; undefined when there is nothing that it could mean.
  const resolve = (act: Act, sameAs?: Call): Call | undefined => {
    const world = worlds[0]!
    const creates = act.do === 'create' || act.do === 'topUp' || act.do === 'instruct'
    const key = act.keyed || (site.failing && creates) ? { key: `${nonce}-${++keys}` } : {}
    const partner = 'partner' in act ? players[act.partner % players.length]!.id : ''
    const operator = 'partner' in act && act.partner === 2 ? 'payer' : 'bootstrap'
    switch (act.do) {
      case 'topUp':
        return { do: 'topUp', operator, partner, ...act.money, reference: `in-${act.reference}`, ...key }
      case 'instruct':
        return { do: 'instruct', partner, currency: act.currency, ...key }
      case 'forget':
        return { do: 'forget', partner, instruction: fromNewest(Object.keys(world.instructions), act.nth) ?? 'oin_0' }
      case 'create': {
        const mine = Object.keys(world.instructions).filter((id) => {
          const { partner: owner, currency, deleted } = world.instructions[id]!
          return owner === partner && currency === act.money.currency && !deleted
        })
        const some = act.nth < 3 && mine.length > 0 ? mine : Object.keys(world.instructions)
        const reference = act.reference === 0 ? null : `out-${act.reference}`
        return {
          do: 'create',
          partner,
          instruction: fromNewest(some, act.nth) ?? 'oin_0',
          ...act.money,
          reference,
          ...key,
        }
      }
      case 'again':
        return fromNewest(keyedCalls, act.nth)
      default: {
        const old = act.do === 'misuse' ? fromNewest(keyedCalls, act.nth)?.key : undefined
        if (act.do === 'misuse' && old === undefined) return undefined
        const name = act.do === 'misuse' ? 'confirm' : act.do
        const on = (order: string): Call => {
          if (name === 'lapse') return { do: name, order }
          if (name !== 'confirm' && name !== 'cancel') return { do: name, operator, order, ...key }
          const owner = world.orders[order]?.partner
          const by = act.at.stranger ? players.find(({ id }) => id !== owner)! : players.find(({ id }) => id === owner)
          return { do: name, partner: by?.id ?? players[0]!.id, order, ...(old === undefined ? key : { key: old }) }
        }
        if (name === 'lapse' && site.lapse === 'at any time') return undefined
        if (sameAs && 'order' in sameAs) return on(sameAs.order)
        const all = Object.keys(world.orders).filter((id) => realIds.has(id))
        const good = act.at.aimed ? all.filter((id) => apply(rules, world, unkeyed(on(id))).reply.status < 300) : []
        // Where there is nothing to do it to, what has to come first is done instead.
        const first = act.at.aimed && good.length === 0 && !act.at.stranger ? before[name] : undefined
        if (first === 'create')
          return resolve({ ...act, do: first, money: act.at.money, reference: 0, nth: 0, partner: act.at.nth })
        if (first && 'partner' in act) return resolve({ ...act, do: first })
        return on(fromNewest(good.length > 0 ? good : all, act.at.nth) ?? unknownOrder)
      }
    }
  }

  const callsOf = (step: Step): Call[] => {
    if (!('atOnce' in step)) return [resolve(step)].filter((call) => call !== undefined)
    const first = resolve(step.atOnce[0])
    const second = resolve(step.atOnce[1], step.meet ? first : undefined)
    return [first, second].filter((call) => call !== undefined)
  }

  const lookAtAll = async () => {
    const wanted = worlds.map((world) => atRest(rules, world))
    const look = async () => {
      const shown = { replies, ...(await readShown(site, players)) }
      const fitting: World[] = []
      let difference: unknown
      for (const world of wanted) {
        try {
          checkShown(world, shown)
          fitting.push(world)
        } catch (error) {
          difference ??= error
        }
      }
      return { shown, fitting, difference }
    }
    let last = await look()
    // Only what happens by itself is worth waiting for.
    if (last.fitting.length === 0 && wanted.some((world, i) => world !== worlds[i])) {
      const settled = async () => {
        last = await look()
        return last.fitting.length > 0
      }
      await eventually(settled, 'what happens by itself', 20_000).catch(() => {})
    }
    if (last.fitting.length === 0) throw last.difference
    worlds = last.fitting
    const { shown } = last
    const details = await Promise.all(shown.orders.map((order) => readDetails(site, players, worlds[0]!, order)))
    assert.deepEqual(details, shown.orders, 'details show what the list shows')
    return shown
  }

  try {
    for (const { id } of players) await perform(beginning(id, site.rail, nonce))
    for (const step of steps) {
      const calls = callsOf(step)
      await perform(calls)
      keyedCalls.push(...calls.filter(({ key }) => key !== undefined))
    }
    const shown = await lookAtAll()
    return { players, worlds, shown, log, lost }
  } catch (error) {
    throw told(error, log)
  }
}

// Holds the story against what the database holds.
export function closeBooks(story: Story, books: Books): void {
  let difference: unknown
  for (const world of story.worlds) {
    try {
      checkBooks(world, story.shown, books)
      return
    } catch (error) {
      difference ??= error
    }
  }
  throw told(difference, story.log)
}

function told(error: unknown, log: readonly string[]): Error {
  const { message } = error as Error
  return new Error(`${message}\nThe story:\n  ${log.join('\n  ')}`, { cause: error })
}

// Each partner begins with a destination and some funds; with a rail that pays by itself, with more than it can spend, so that
// no answer depends on what the rail did to other orders meanwhile.
function beginning(partner: string, rail: Rules['rail'], nonce: string): Call[] {
  const amount = rail === 'sandbox' ? '1000000' : '200'
  const operator = 'bootstrap'
  return currencies.flatMap((currency): Call[] => [
    { do: 'instruct', partner, currency, key: `${nonce}-${partner}-${currency}` },
    {
      do: 'topUp',
      operator,
      partner,
      currency,
      amount,
      reference: `in ${currency}`,
      key: `${nonce}-${partner}-${currency}`,
    },
  ])
}

async function readShown(site: Site, players: readonly Player[]): Promise<Omit<Shown, 'replies'>> {
  const each = await Promise.all(
    players.map(async ({ id, api }) => {
      const { orders } = await read(site, api, '/partner/orders?limit=100')
      const { settlement_accounts } = await read(site, api, '/partner/settlement-accounts')
      return { orders, accounts: settlement_accounts.map((account: object) => ({ partner: id, ...account })) }
    }),
  )
  return { orders: each.flatMap(({ orders }) => orders), accounts: each.flatMap(({ accounts }) => accounts) }
}

async function readDetails(site: Site, players: readonly Player[], world: World, order: Body): Promise<Body> {
  const owner = players.find(({ id }) => id === world.orders[plain(order).id]!.partner)!
  return read(site, owner.api, `/partner/orders/${order.id}`)
}

function unkeyed(call: Call): Call {
  const { key, ...rest } = call
  return rest as Call
}

function fromNewest<T>(all: readonly T[], nth: number): T | undefined {
  return all[all.length - 1 - (nth % Math.max(1, all.length))]
}
