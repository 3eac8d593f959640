// The partner's orders: create, follow, confirm, cancel.
import Type from 'typebox'
import type { Context } from '../context.ts'
import { idempotently } from '../http/idempotency.ts'
import { pageOf, pageQuery, pageReply, readPage } from '../http/paging.ts'
import { type Route, route } from '../http/route.ts'
import { keyActor, type PartnerCaller } from '../partners/gate.ts'
import type { Waker } from '../webhooks/signals.ts'
import { changeOrder, createWithdrawal, noSuchOrder } from './orders.ts'
import { findOrder, listOrders } from './queries.ts'
import { NewOrder, Order, orderFilters } from './schema.ts'
import { orderView } from './views.ts'

const orderRoute = route<PartnerCaller>()
const tag = 'Orders'
const params = Type.Object({ order_id: Type.String({ maxLength: 100, description: 'Id of the order.' }) })

export function orderRoutes(ctx: Context, waker: Waker): Route<PartnerCaller>[] {
  return [
    orderRoute({
      method: 'POST',
      path: '/partner/orders',
      id: 'createOrder',
      tag,
      summary: 'Create a withdrawal order',
      description:
        'The order waits for its confirmation until `expires_at`; before that nothing is held, posted or paid. `amount` is what your settlement account will be debited; the fee comes out of it.',
      access: 'orders:write',
      idempotent: true,
      body: NewOrder,
      replies: { 201: { description: 'The order, `awaiting_confirmation`.', schema: Order } },
      errors: ['conflict', 'invalid_destination'],
      async handle({ caller, body, request }) {
        const reply = await idempotently(ctx.db, request, { owner: caller.partnerId }, async (tx) => ({
          status: 201,
          body: orderView(await createWithdrawal(ctx, tx, keyActor(caller, request), caller.partnerId, body)),
        }))
        waker.wake()
        return reply
      },
    }),
    orderRoute({
      method: 'GET',
      path: '/partner/orders',
      id: 'listOrders',
      tag,
      summary: 'List orders',
      access: 'orders:read',
      query: Type.Object({ ...pageQuery, ...orderFilters }, { additionalProperties: false }),
      replies: { 200: pageOf('orders', Order) },
      async handle({ caller, query }) {
        const page = readPage(query)
        const rows = await listOrders(ctx.db, caller.partnerId, query, page)
        return pageReply('orders', rows, page, orderView, (row) => row.id)
      },
    }),
    orderRoute({
      method: 'GET',
      path: '/partner/orders/{order_id}',
      id: 'getOrder',
      tag,
      summary: 'Show an order',
      access: 'orders:read',
      params,
      replies: { 200: { description: 'The order.', schema: Order } },
      errors: ['not_found'],
      async handle({ caller, params }) {
        const row = await findOrder(ctx.db, caller.partnerId, params.order_id)
        if (!row) throw noSuchOrder()
        return { status: 200, body: orderView(row) }
      },
    }),
    orderRoute({
      method: 'POST',
      path: '/partner/orders/{order_id}/confirm',
      id: 'confirmOrder',
      tag,
      summary: 'Confirm a withdrawal order',
      description:
        'Holds the amount and releases the order for processing. Of any number of confirmations exactly one succeeds.',
      access: 'orders:confirm',
      idempotent: true,
      params,
      replies: { 200: { description: 'The order, `pending`.', schema: Order } },
      errors: ['not_found', 'invalid_order_state', 'insufficient_funds', 'invalid_destination'],
      handle: ({ caller, params, request }) => change(caller, params.order_id, 'confirm', request),
    }),
    orderRoute({
      method: 'POST',
      path: '/partner/orders/{order_id}/cancel',
      id: 'cancelOrder',
      tag,
      summary: 'Cancel an order that waits for confirmation',
      access: 'orders:write',
      idempotent: true,
      params,
      replies: { 200: { description: 'The order, `cancelled`.', schema: Order } },
      errors: ['not_found', 'invalid_order_state'],
      handle: ({ caller, params, request }) => change(caller, params.order_id, 'cancel', request),
    }),
  ]

  async function change(
    caller: PartnerCaller,
    orderId: string,
    trigger: 'confirm' | 'cancel',
    request: Parameters<typeof keyActor>[1],
  ) {
    const goesToRail = trigger === 'confirm' && ctx.config.payoutRail === 'sandbox'
    const options = goesToRail ? { railInMs: 0 } : {}
    const reply = await idempotently(ctx.db, request, { owner: caller.partnerId }, async (tx) => ({
      status: 200,
      body: orderView(await changeOrder(tx, keyActor(caller, request), caller.partnerId, orderId, trigger, options)),
    }))
    waker.wake()
    return reply
  }
}
