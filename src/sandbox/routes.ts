// Routes that exist only in sandbox mode: what the platform would do, for a partner that tries things out.
import Type from 'typebox'
import type { Context } from '../context.ts'
import { idempotently } from '../http/idempotency.ts'
import { rawBody } from '../http/json-body.ts'
import { memberTexts } from '../http/json-text.ts'
import { type Route, route } from '../http/route.ts'
import { newId } from '../ids.ts'
import { changeOrder, noSuchOrder, topUp } from '../orders/orders.ts'
import { lockOrder } from '../orders/queries.ts'
import { amount, Order } from '../orders/schema.ts'
import { orderView } from '../orders/views.ts'
import { keyActor, type PartnerCaller } from '../partners/gate.ts'
import { actions, catalogue, checkEntities } from '../webhooks/catalogue.ts'
import type { Publisher } from '../webhooks/publisher.ts'
import { textOf } from '../webhooks/publishing.ts'
import type { Waker } from '../webhooks/signals.ts'

const sandboxRoute = route<PartnerCaller>()

const entities = Object.fromEntries(
  [...new Set(actions.flatMap((action) => Object.keys(catalogue[action].entities)))].map((name) => [
    name,
    Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), { description: `The \`${name}\`; left out, an example is taken.` }),
    ),
  ]),
)

export function sandboxRoutes(ctx: Context, publisher: Publisher, waker: Waker): Route<PartnerCaller>[] {
  return [
    sandboxRoute({
      method: 'POST',
      path: '/sandbox/events',
      id: 'emitSandboxEvent',
      tag: 'Sandbox',
      summary: 'Make an event happen',
      description:
        'As if the platform had published it: every subscription of yours to this type gets it. Without an entity an example is sent.',
      access: 'webhooks:write',
      body: Type.Object(
        { action: Type.Enum(actions, { description: 'Event type.' }), ...entities },
        { additionalProperties: false },
      ),
      replies: {
        201: {
          description: 'Published.',
          schema: Type.Object({
            publication_id: Type.String({ description: 'Common to the events made of it.' }),
            event_ids: Type.Array(Type.String(), { description: 'One for each matching subscription.' }),
          }),
        },
      },
      async handle({ caller, body, request }) {
        const { action, ...given } = body
        const carried = { ...catalogue[action].example, ...given }
        checkEntities(action, carried)
        const { publication_id, event_ids } = await publisher.publish({
          partnerId: caller.partnerId,
          id: newId('pub'),
          action,
          entities: carried,
          text: textOf(carried, memberTexts(rawBody(request))),
        })
        return { status: 201, body: { publication_id, event_ids } }
      },
    }),
    sandboxRoute({
      method: 'POST',
      path: '/sandbox/top-ups',
      id: 'createSandboxTopUp',
      tag: 'Sandbox',
      summary: 'Let funds arrive',
      description: 'As if you had sent money to the platform: a `top_up` order, complete at once.',
      access: 'orders:write',
      idempotent: true,
      body: Type.Object(
        {
          currency: Type.String({ minLength: 1, maxLength: 32, description: 'Currency or asset code.' }),
          amount,
          reference_id: Type.Optional(
            Type.String({
              minLength: 1,
              maxLength: 200,
              description: 'The reference of the transfer; made up if left out.',
            }),
          ),
        },
        { additionalProperties: false },
      ),
      replies: { 201: { description: 'The order.', schema: Order } },
      errors: ['conflict'],
      async handle({ caller, body, request }) {
        const given = { ...body, reference_id: body.reference_id ?? newId('ord') }
        const reply = await idempotently(ctx.db, request, { owner: caller.partnerId }, async (tx) => ({
          status: 201,
          body: orderView(await topUp(tx, keyActor(caller, request), caller.partnerId, given)),
        }))
        waker.wake()
        return reply
      },
    }),
    ...(['complete', 'fail'] as const).map((trigger) =>
      sandboxRoute({
        method: 'POST',
        path: `/sandbox/orders/{order_id}/${trigger}`,
        id: `${trigger}SandboxOrder`,
        tag: 'Sandbox',
        summary:
          trigger === 'complete' ? 'Let the bank pay a confirmed order' : 'Let the bank refuse a confirmed order',
        description: 'At once, without waiting for the rail.',
        access: 'orders:write',
        idempotent: true,
        params: Type.Object({ order_id: Type.String({ maxLength: 100, description: 'Id of the order.' }) }),
        replies: { 200: { description: 'The order as it is now.', schema: Order } },
        errors: ['not_found', 'invalid_order_state'],
        async handle({ caller, params: { order_id: id }, request }) {
          const actor = keyActor(caller, request)
          const reply = await idempotently(ctx.db, request, { owner: caller.partnerId }, async (tx) => {
            const order = await lockOrder(tx, caller.partnerId, id) // or the rail could take it in between
            if (!order) throw noSuchOrder()
            if (order.state === 'pending') await changeOrder(tx, actor, caller.partnerId, id, 'take')
            return { status: 200, body: orderView(await changeOrder(tx, actor, caller.partnerId, id, trigger)) }
          })
          waker.wake()
          return reply
        },
      }),
    ),
  ]
}
