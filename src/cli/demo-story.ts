// The story that the demo tells: one withdrawal that is paid, one that the bank refuses, and the proof that nothing was lost. What
// it claims it checks, from the replies, the webhooks and the statement.
import { createRemoteJWKSet, type JWTVerifyGetKey } from 'jose'
import { type Delivery, type Receiver, verifyWebhook } from './demo-receiver.ts'
import type { Screen } from './demo-screen.ts'

// biome-ignore lint/suspicious/noExplicitAny: the story looks into replies of every shape
type Body = any

export interface Stage {
  readonly url: string
  readonly operatorUrl: string
  readonly key: string
  readonly operatorToken: string
  readonly receiver: Receiver
  readonly screen: Screen
}

const webhookDeadlineMs = 60_000
const orderEvents = ['partner-order-created', 'partner-order-updated', 'partner-order-closed']
const inShort = ['id', 'state', 'withdrawal.amount', 'withdrawal.fee_amount', 'withdrawal.destination_amount']

export async function tellStory(stage: Stage): Promise<void> {
  const { screen, receiver } = stage
  const { call, ask, operate } = createCalls(stage)

  await screen.step('The account', 'The demo partner has money with the platform, one balance for each currency.')
  const accounts = '/partner/settlement-accounts'
  const balances = ['currency', 'available', 'held'].map((name) => `settlement_accounts.${name}`)
  const before = await call('GET', accounts, 200, balances)

  await screen.step('Subscribe an endpoint', 'Its webhooks are signed; the public keys are at /.well-known/jwks.json.')
  const wanted = { url: receiver.url, events: orderEvents }
  const { id: subscriptionId } = await call('POST', '/webhooks/subscriptions', 201, ['id', 'url', 'state'], wanted)
  const keys = createRemoteJWKSet(new URL('/.well-known/jwks.json', stage.url))
  receiver.trust(keys, subscriptionId)

  await screen.step('Say where to pay', 'With two digits swapped, the check digits give it away.')
  const destination = (cbu: string) => ({
    type: 'ar_cbu',
    currency: 'ARS',
    fields: { cbu, holder_name: 'Ada Lovelace' },
  })
  await call('POST', '/partner/outgoing-instructions', 400, [], destination('2850590940090418135210'))
  const { id: instructionId } = await call(
    'POST',
    '/partner/outgoing-instructions',
    201,
    ['id', 'type', 'currency'],
    destination('2850590940090418135201'),
  )

  const withdrawal = (reference_id: string, amount: string) => ({
    operation: 'withdrawal',
    reference_id,
    withdrawal: {
      ...{ currency: 'ARS', amount, type: 'outgoing_instruction' },
      outgoing_instruction: { instruction_id: instructionId },
    },
  })
  await screen.step('Create an order', 'Its fee comes out of the amount. It now waits to be confirmed.')
  const order = await call('POST', '/partner/orders', 201, [...inShort, 'expires_at'], withdrawal('rent', '10000.00'))
  await followWebhooks(stage, order.id, ['awaiting_confirmation'])

  await screen.step('Nothing has moved', 'Until it is confirmed, nothing is held, posted or paid.')
  const untouched = await call('GET', accounts, 200, balances)
  const statement = `${accounts}/ARS/statement`
  const { entries: soFar } = await ask(statement)
  screen.check(
    'the balances are as before, and nothing was posted',
    JSON.stringify(untouched) === JSON.stringify(before) && soFar.length === 1,
  )

  await screen.step('Confirm it', 'Now the amount is set aside, and the order goes to the bank.')
  await call('POST', `/partner/orders/${order.id}/confirm`, 200, ['id', 'state', 'processed_at'])
  const entries = (await ask(statement)).entries as Body[]
  const hold = entries.find(({ kind, order_id }) => kind === 'hold' && order_id === order.id)
  screen.check(`${hold?.held} ARS are held, ${hold?.available} ARS available`, hold?.held === '10000.00')

  await screen.step('The bank pays', 'The sandbox has a bank of its own, which takes two seconds.')
  const paid = await followWebhooks(stage, order.id, ['pending', 'processing', 'completed'])
  const details = await ask(`/partner/orders/${order.id}`)
  const told = paid.at(-1)?.event.partner_order
  screen.check('the webhook says exactly what the order says', JSON.stringify(told) === JSON.stringify(details))

  await screen.step('Confirm it again', 'By mistake, or in a race: an order is confirmed once.')
  await call('POST', `/partner/orders/${order.id}/confirm`, 400, [])

  await screen.step('A payout that fails', 'In the sandbox the bank refuses amounts that end in .01.')
  const refused = await call('POST', '/partner/orders', 201, inShort, withdrawal('gift', '500.01'))
  await call('POST', `/partner/orders/${refused.id}/confirm`, 200, ['id', 'state'])
  await followWebhooks(stage, refused.id, ['awaiting_confirmation', 'pending', 'processing', 'cancelled'])
  await call('GET', `/partner/orders/${refused.id}`, 200, ['id', 'state', 'state_reason'])

  await screen.step('The statement', 'Every movement, newest first, with the balances after it.')
  const { entries: all } = await call('GET', statement, 200, statementTable)
  const kinds = all.map(({ kind }: Body) => kind).join(' ')
  const left = all[0].available === '990000.00' && all[0].held === '0.00'
  screen.check(
    '10000.00 ARS went out, fee included; the refused 500.01 ARS came back',
    left && kinds === 'release hold payout hold top_up',
  )

  await screen.step('The proof', 'An operator lets the postings prove every balance and every order.')
  const report = await operate('/reconciliation')
  screen.check('everything agrees', report.agrees === true)

  await screen.step('A forged webhook', 'The webhook of the payout again, with one digit of its body changed.')
  await forge(screen, paid.at(-1)!, keys, subscriptionId)
}

// Shows the webhooks of one order as they come, in whatever order, until each of these states was told of.
async function followWebhooks({ receiver, screen }: Stage, orderId: string, states: string[]): Promise<Delivery[]> {
  const seen: Delivery[] = []
  const stateOf = ({ event }: Delivery) => (event.partner_order as Body)?.state
  while (!states.every((state) => seen.some((each) => stateOf(each) === state))) {
    const delivery = await receiver.next(webhookDeadlineMs)
    screen.webhook(delivery)
    if (!delivery.verdict.ok) throw new Error('A webhook could not be verified.')
    if ((delivery.event.partner_order as Body)?.id === orderId) seen.push(delivery)
  }
  return seen.sort((a, b) => states.indexOf(stateOf(a)) - states.indexOf(stateOf(b)))
}

async function forge(screen: Screen, { headers, body }: Delivery, keys: JWTVerifyGetKey, subscriptionId: string) {
  const forged = Buffer.from(body.toString().replace('10000.00', '90000.00'))
  const verdict = await verifyWebhook({ headers, body: forged }, keys, subscriptionId)
  screen.check(verdict.ok ? 'it is refused' : `it is refused: ${verdict.why}`, !verdict.ok)
}

function createCalls({ url, operatorUrl, key, operatorToken, screen }: Stage) {
  const send = async (address: string, token: string, method: string, body?: object) => {
    const response = await fetch(address, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body ? { 'content-type': 'application/json' } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    return { status: response.status, reply: (await response.json()) as Body }
  }
  const expect = (expected: number, { status, reply }: { status: number; reply: Body }, what: string) => {
    if (status === expected) return reply
    screen.check(`${what} is answered with ${expected}`, false)
    throw new Error(`${what} was answered with ${status}: ${JSON.stringify(reply)}`)
  }
  return {
    // A call of the partner that is shown: of the reply the members named, or what a function makes of it.
    async call(
      method: string,
      path: string,
      expected: number,
      shown: readonly string[] | ((reply: Body) => string),
      body?: object,
    ): Promise<Body> {
      const answer = await send(`${url}/v1${path}`, key, method, body)
      const exchange = { method, path: `/v1${path}`, ...(body ? { body } : {}), ...answer }
      const show = answer.status === expected ? shown : []
      screen.call(exchange, typeof show === 'function' ? show(answer.reply) : show)
      return expect(expected, answer, `${method} ${path}`)
    },
    // One that is not.
    async ask(path: string): Promise<Body> {
      return expect(200, await send(`${url}/v1${path}`, key, 'GET'), path)
    },
    async operate(path: string): Promise<Body> {
      const answer = await send(`${operatorUrl}/operator/v1${path}`, operatorToken, 'GET')
      screen.call({ method: 'GET', path: `/operator/v1${path}`, ...answer }, [])
      return expect(200, answer, path)
    },
  }
}

function statementTable({ entries }: Body): string {
  const rows = [
    ['', 'KIND', 'AVAILABLE', 'AFTER', 'HELD', 'AFTER'],
    ...entries.map((each: Body) => [
      String(each.entry),
      each.kind,
      ...[each.available_change, each.available, each.held_change, each.held],
    ]),
  ] as string[][]
  const widths = rows[0]!.map((_, i) => Math.max(...rows.map((row) => row[i]!.length)))
  const line = (row: string[]) => row.map((cell, i) => (i < 2 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!)))
  return rows.map((row) => line(row).join('  ').trimEnd()).join('\n')
}
