// The operator's routes about money: top-ups, the payouts of confirmed orders, and reconciliation.
import Type from 'typebox'
import type { Context } from '../context.ts'
import type { Tx } from '../db/db.ts'
import { idempotently } from '../http/idempotency.ts'
import { pageOf, pageQuery, pageReply, readPage } from '../http/paging.ts'
import { type Route, route } from '../http/route.ts'
import { changeOrder, noSuchOrder, returnWithdrawal, topUp } from '../orders/orders.ts'
import { findOrderOfAny, listOrdersOfAll } from '../orders/queries.ts'
import { reconcile } from '../orders/reconciliation.ts'
import { NewTopUp, OperatorOrder, Order } from '../orders/schema.ts'
import { orderStates, type Trigger } from '../orders/states.ts'
import { operatorOrderView, orderView } from '../orders/views.ts'
import type { Actor } from '../partners/audit.ts'
import type { Waker } from '../webhooks/signals.ts'
import { type Operator, operatorActor } from './gate.ts'

const operatorRoute = route<Operator>()
const params = Type.Object({ order_id: Type.String({ maxLength: 100, description: 'Id of the order.' }) })

const count = (what: string) => Type.Integer({ description: `How many ${what} were checked.` })
const nullable = (description: string) => Type.Union([Type.String(), Type.Null()], { description })
export const ReconciliationReport = Type.Object(
  {
    agrees: Type.Boolean({ description: 'Whether every balance and every order agree with the postings.' }),
    checked: Type.Object({
      partners: count('partners'),
      accounts: count('accounts'),
      entries: count('entries'),
      postings: count('postings'),
      orders: count('orders'),
    }),
    discrepancies: Type.Array(
      Type.Object({
        partner_id: Type.String({ description: 'Whose.' }),
        currency: nullable('In which account.'),
        order_id: nullable('Of which order.'),
        entry: Type.Union([Type.Integer(), Type.Null()], { description: 'At which entry of the account.' }),
        problem: Type.String({ description: 'What does not agree.' }),
      }),
      { description: 'What does not agree, at most 1,000.' },
    ),
  },
  { description: 'The result of a reconciliation.' },
)

interface Step {
  readonly name: string
  readonly trigger: Trigger
  readonly access: 'payouts' | 'support'
  readonly summary: string
  readonly description: string
}

// biome-ignore format: a table reads best as one
const steps: readonly Step[] = [
  { name: 'take', trigger: 'take', access: 'payouts', summary: 'Take a confirmed order to pay it',
    description: 'Permanent. The reply has the `payout_id` to give to the bank; whoever took it may ask again. Nobody else can take it until it is released.' },
  { name: 'complete', trigger: 'complete', access: 'payouts', summary: 'Say that a taken order was paid',
    description: 'May be repeated. Excludes `fail`.' },
  { name: 'fail', trigger: 'fail', access: 'payouts', summary: 'Say that a taken order could not be paid',
    description: 'The order is cancelled and the held funds are given back. May be repeated. Excludes `complete`.' },
  { name: 'release', trigger: 'release', access: 'payouts', summary: 'Give a taken order back, unpaid',
    description: 'Only when it is certain that the bank was not told. It can be taken again, with the same `payout_id`.' },
  { name: 'cancel', trigger: 'cancel_by_operator', access: 'support', summary: 'Cancel an order that nobody has taken',
    description: 'Held funds are given back.' },
]

export function orderAdministration(ctx: Context, waker: Waker): Route<Operator>[] {
  const shown = async (tx: Tx, orderId: string) => {
    const row = await findOrderOfAny(tx, orderId)
    if (!row) throw noSuchOrder()
    return { status: 200, body: operatorOrderView(row) }
  }
  const act = async (
    caller: Operator,
    request: Parameters<typeof operatorActor>[1],
    orderId: string,
    work: (tx: Tx, actor: Actor, partnerId: string) => Promise<unknown>,
  ) => {
    const reply = await idempotently(ctx.db, request, { owner: caller.id }, async (tx) => {
      const { body } = await shown(tx, orderId)
      await work(tx, operatorActor(caller, request), body.partner_id)
      return shown(tx, orderId)
    })
    waker.wake()
    return reply
  }

  return [
    operatorRoute({
      method: 'POST',
      path: '/partners/{partner_id}/top-ups',
      id: 'createTopUp',
      tag: 'Orders',
      summary: 'Credit funds that arrived to a partner',
      description:
        'A `top_up` order that is complete at once. A `reference_id` is credited only once: again it is 409.',
      access: 'payouts',
      idempotent: true,
      params: Type.Object({ partner_id: Type.String({ maxLength: 100, description: 'Id of the partner.' }) }),
      body: NewTopUp,
      replies: { 201: { description: 'The order.', schema: Order } },
      errors: ['not_found', 'conflict'],
      async handle({ caller, params, body, request }) {
        const reply = await idempotently(ctx.db, request, { owner: caller.id }, async (tx) => ({
          status: 201,
          body: orderView(await topUp(tx, operatorActor(caller, request), params.partner_id, body)),
        }))
        waker.wake()
        return reply
      },
    }),
    operatorRoute({
      method: 'GET',
      path: '/orders',
      id: 'listOrders',
      tag: 'Orders',
      summary: 'List orders of all partners',
      description: '`state=pending` are those that wait to be taken and paid.',
      access: 'read',
      query: Type.Object(
        {
          ...pageQuery,
          state: Type.Optional(Type.Enum(orderStates, { description: 'Only those in this state.' })),
          partner_id: Type.Optional(Type.String({ maxLength: 100, description: 'Only those of this partner.' })),
        },
        { additionalProperties: false },
      ),
      replies: { 200: pageOf('orders', OperatorOrder) },
      async handle({ query }) {
        const page = readPage(query)
        const rows = await listOrdersOfAll(ctx.db, query, page)
        return pageReply('orders', rows, page, operatorOrderView, (row) => row.id)
      },
    }),
    operatorRoute({
      method: 'GET',
      path: '/orders/{order_id}',
      id: 'getOrder',
      tag: 'Orders',
      summary: 'Show an order',
      access: 'read',
      params,
      replies: { 200: { description: 'The order.', schema: OperatorOrder } },
      errors: ['not_found'],
      async handle({ params }) {
        const row = await findOrderOfAny(ctx.db, params.order_id)
        if (!row) throw noSuchOrder()
        return { status: 200, body: operatorOrderView(row) }
      },
    }),
    ...steps.map(({ name, trigger, ...described }) =>
      operatorRoute({
        ...described,
        method: 'POST',
        path: `/orders/{order_id}/${name}`,
        id: `${name}Order`,
        tag: 'Orders',
        idempotent: true,
        params,
        replies: { 200: { description: 'The order as it is now.', schema: OperatorOrder } },
        errors: ['not_found', 'invalid_order_state'],
        handle: ({ caller, params, request }) =>
          act(caller, request, params.order_id, (tx, actor, partnerId) =>
            changeOrder(tx, actor, partnerId, params.order_id, trigger),
          ),
      }),
    ),
    operatorRoute({
      method: 'POST',
      path: '/orders/{order_id}/return',
      id: 'returnOrder',
      tag: 'Orders',
      summary: 'Say that the bank returned a completed payout',
      description:
        'Credits what had been paid by a linked `withdrawal_return` order; the fee stays. May be repeated: there is one return.',
      access: 'payouts',
      idempotent: true,
      params,
      replies: { 201: { description: 'The credit order.', schema: Order } },
      errors: ['not_found', 'invalid_order_state'],
      async handle({ caller, params, request }) {
        const reply = await idempotently(ctx.db, request, { owner: caller.id }, async (tx) => {
          const { body } = await shown(tx, params.order_id)
          const actor = operatorActor(caller, request)
          return {
            status: 201,
            body: orderView(await returnWithdrawal(tx, actor, body.partner_id, params.order_id)),
          }
        })
        waker.wake()
        return reply
      },
    }),
    operatorRoute({
      method: 'GET',
      path: '/reconciliation',
      id: 'reconcile',
      tag: 'Orders',
      summary: 'Prove that balances, orders and postings agree',
      access: 'read',
      replies: { 200: { description: 'What was checked, and what does not agree.', schema: ReconciliationReport } },
      handle: async () => ({ status: 200, body: await reconcile(ctx) }),
    }),
  ]
}
