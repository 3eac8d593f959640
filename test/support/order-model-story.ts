// Plays a sequence at a site, step by step, holding every answer against the model; afterwards holds everything the service
// shows against it. When something differs, the error tells the whole story.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { Body } from './client.ts'
import { eventually } from './endpoint.ts'
import { apply, type Call, nothing, type Order, type Rules, type World } from './order-model.ts'
import { type Books, checkBooks, checkShown, type Shown } from './order-model-check.ts'
import { currencies } from './order-model-money.ts'
import { callOf } from './order-model-resolve.ts'
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

const mostBefore = 8 // steps from nothing to a returned order, and some that fail

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
  const newKey = () => ({ key: `${nonce}-${++keys}` })

  const perform = async (calls: readonly Call[]) => {
    const worldsBefore = worlds
    const threads = await Promise.all(calls.map(attempt))
    worlds = explain(rules, worldsBefore, threads)
    keyedCalls.push(...calls.filter(({ key }) => key !== undefined))
    if (worlds.length > 0) return
    const told = threads.map(({ call, answer, newId }) => {
      const { reply } = apply(rules, worldsBefore[0]!, call, newId)
      return `${call.do} was answered ${JSON.stringify(answer)}, by itself the model says ${JSON.stringify(reply)}`
    })
    throw new Error(`no order of events explains the answers:\n  ${told.join('\n  ')}`)
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

  const callFor = (act: Act, sameAs?: Call): Call | undefined => {
    const world = worlds[0]!
    const orders = Object.keys(world.orders).filter((id) => realIds.has(id))
    const ids = players.map(({ id }) => id)
    return callOf(act, { rules, world, players: ids, orders, earlier: keyedCalls, keyed: newKey, site }, sameAs)
  }

  // What has to come first is done first.
  const prepared = async (act: Act): Promise<Call | undefined> => {
    for (let before = 0; ; before++) {
      const call = callFor(act)
      if (!call || call.do === act.do || act.do === 'again' || act.do === 'misuse' || before === mostBefore) return call
      await perform([call])
    }
  }

  const callsOf = async (step: Step): Promise<Call[]> => {
    const [first, second] = 'atOnce' in step ? step.atOnce : [step]
    const calls = [await prepared(first)]
    if (second) calls.push(callFor(second, 'meet' in step && step.meet ? calls[0] : undefined))
    return calls.filter((call) => call !== undefined)
  }

  const lookAtAll = async () => {
    const wanted = worlds.map((world) => atRest(rules, world))
    const look = async () => {
      const shown = { replies, byTheRail: site.rail === 'sandbox', ...(await readShown(site, players)) }
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
      await eventually(settled, 'what happens by itself', 90_000).catch(() => {})
    }
    if (last.fitting.length === 0) throw last.difference
    worlds = last.fitting
    const { shown } = last
    const withdrawals = shown.orders.filter((order) => order.operation !== 'top_up')
    const details = await Promise.all(withdrawals.map((order) => readDetails(site, players, worlds[0]!, order)))
    assert.deepEqual(details, withdrawals, 'details show what the list shows')
    return shown
  }

  try {
    for (const call of beginning(players, site, nonce)) await perform([call])
    for (const step of steps) {
      const calls = await callsOf(step)
      await perform(calls)
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

// One partner begins with some funds. With a rail that pays by itself all have more funds than they can spend,
// so that no answer depends on what the rail did to other orders meanwhile.
function beginning(players: readonly Player[], { rail, failing }: Site, nonce: string): Call[] {
  const partner = players[0]!.id
  const key = failing ? { key: nonce } : {}
  const operator = 'bootstrap'
  const funds: Call = { do: 'topUp', operator, partner, currency: 'ARS', amount: '60', reference: 'in', ...key }
  if (rail === 'operator') return [funds]
  return players.flatMap(({ id }) =>
    currencies.map((currency): Call => {
      const some = { ...funds, amount: '1000000', reference: `in ${currency}`, key: `${nonce}-${id}-${currency}` }
      return { ...some, partner: id, currency } as Call
    }),
  )
}

async function readShown(site: Site, players: readonly Player[]): Promise<Pick<Shown, 'orders' | 'accounts'>> {
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
