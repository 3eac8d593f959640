// The operator's commands about money: top-ups, the payouts of confirmed orders, and reconciliation.
import type { Command } from './command.ts'
import { callOperator, type Json } from './operator-client.ts'
import { card, table } from './output.ts'

const listedByDefault = 100

// biome-ignore format: a table reads best as one
const steps: readonly { readonly name: string; readonly summary: string }[] = [
  { name: 'take', summary: 'Take a confirmed order to pay it; prints the payout_id to give to the bank.' },
  { name: 'complete', summary: 'Say that the bank paid an order that was taken.' },
  { name: 'fail', summary: 'Say that the bank refused it: the order is cancelled and the funds are given back.' },
  { name: 'release', summary: 'Give a taken order back, only if it is certain that the bank was not told of it.' },
  { name: 'cancel', summary: 'Cancel an order that nobody has taken; held funds are given back.' },
  { name: 'return', summary: 'Say that the bank sent a completed payout back; prints the credit order.' },
]

export const orderCommands: readonly Command[] = [
  {
    words: 'top-ups create',
    args: ['<partner_id>', '<currency>', '<amount>'],
    options: { reference: 'reference of the transfer that arrived; each is credited only once' },
    required: ['reference'],
    summary: 'Credit funds that arrived to a partner.',
    async run({ args: [id, currency, amount], options, json }) {
      const given = { currency, amount, reference_id: options.reference }
      return showOrder(await callOperator('POST', `/partners/${id}/top-ups`, given), json)
    },
  },
  {
    words: 'orders list',
    options: {
      state: 'only those in this state: awaiting_confirmation, pending, processing, completed, cancelled',
      partner: 'only those of this partner',
      limit: `how many at most (default ${listedByDefault})`,
    },
    summary: 'List orders of all partners, newest first; --state pending are those to be paid.',
    async run({ options, json }) {
      const orders = await listOrders(options)
      const rows = orders.map((order) => ({ ...order, amount: money(order.settlement as Json) }))
      const columns = ['id', 'state', 'operation', 'amount', 'partner_id', 'created_at']
      return table(json ? orders : rows, columns, json)
    },
  },
  {
    words: 'orders show',
    args: ['<order_id>'],
    summary: 'Show an order, with its destination.',
    run: async ({ args: [id], json }) => showOrder(await callOperator('GET', `/orders/${id}`), json),
  },
  ...steps.map(
    ({ name, summary }): Command => ({
      words: `orders ${name}`,
      args: ['<order_id>'],
      summary,
      run: async ({ args: [id], json }) => showOrder(await callOperator('POST', `/orders/${id}/${name}`), json),
    }),
  ),
  {
    words: 'reconcile',
    summary: 'Prove from the postings that all balances and orders agree; exit code 1 when they do not.',
    async run({ json }) {
      const report = await callOperator('GET', '/reconciliation')
      const discrepancies = report.discrepancies as Json[]
      if (json) card(report, true)
      else {
        card({ ...(report.checked as Json), agrees: report.agrees ? 'yes' : 'NO' }, false)
        if (discrepancies.length > 0)
          table(discrepancies, ['partner_id', 'currency', 'order_id', 'entry', 'problem'], false)
      }
      return report.agrees === true ? 0 : 1
    },
  },
]

async function listOrders({ state, partner, limit = String(listedByDefault) }: Readonly<Record<string, string>>) {
  if (!/^[1-9][0-9]{0,6}$/.test(limit)) throw new Error('--limit must be a whole number from 1 on.')
  const orders: Json[] = []
  for (let cursor: unknown = null; ; ) {
    const query = new URLSearchParams({
      limit: String(Math.min(100, Number(limit) - orders.length)),
      ...(state === undefined ? {} : { state }),
      ...(partner === undefined ? {} : { partner_id: partner }),
      ...(cursor === null ? {} : { cursor: String(cursor) }),
    })
    const page = await callOperator('GET', `/orders?${query}`)
    orders.push(...(page.orders as Json[]))
    cursor = page.next_cursor
    if (cursor === null) return orders
    if (orders.length >= Number(limit)) {
      process.stderr.write(`There are more than ${limit}; --limit shows more.\n`)
      return orders
    }
  }
}

// What people ask about first; everything is in --json.
function showOrder(order: Json, json: boolean): number {
  if (json) return card(order, true)
  const { withdrawal, withdrawal_return: returned, destination } = order as Record<string, Json | undefined>
  const { type, fields } = (destination ?? {}) as { type?: string; fields?: Json }
  const lines = {
    id: order.id,
    partner_id: order.partner_id,
    operation: order.operation,
    state: order.state,
    state_reason: order.state_reason,
    amount: money(order.settlement as Json),
    fee_amount: withdrawal?.fee_amount,
    destination_amount: withdrawal?.destination_amount,
    destination: type,
    ...Object.fromEntries(Object.entries(fields ?? {}).map(([key, value]) => [`  ${key}`, value])),
    returned_order: returned?.order_id,
    reference_id: order.reference_id,
    payout_id: order.payout_id,
    taken_by: order.taken_by,
    taken_at: order.taken_at,
    created_at: order.created_at,
    expires_at: order.state === 'awaiting_confirmation' ? order.expires_at : undefined,
    processed_at: order.processed_at,
    closed_at: order.closed_at,
  }
  const told = Object.entries(lines).filter(([, value]) => value !== null && value !== undefined)
  return card(Object.fromEntries(told), false)
}

function money({ amount, currency }: Json): string {
  return `${amount} ${currency}`
}
