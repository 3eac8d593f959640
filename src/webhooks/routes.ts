// The partner's webhook routes: subscriptions.
import Type from 'typebox'
import type { Context } from '../context.ts'
import type { Tx } from '../db/db.ts'
import { idempotently } from '../http/idempotency.ts'
import { noFilters, pageOf, pageReply, readPage } from '../http/paging.ts'
import { type Reply, type Route, route } from '../http/route.ts'
import { keyActor, type PartnerCaller } from '../partners/gate.ts'
import { bulkView, startBulkResend } from './events.ts'
import { findSubscription, listSubscriptions, type SubscriptionRow } from './queries.ts'
import {
  BulkResend,
  NewSubscription,
  NewSubscriptions,
  Subscription,
  SubscriptionChange,
  Subscriptions,
  TestResult,
} from './schema.ts'
import type { Waker } from './signals.ts'
import {
  changeSubscription,
  createSubscriptions,
  deleteSubscription,
  noSuchSubscription,
  retryNow,
  subscriptionView,
} from './subscriptions.ts'
import type { TargetGuard } from './target.ts'

const webhookRoute = route<PartnerCaller>()
const tag = 'Webhook subscriptions'
const params = Type.Object({ subscription_id: Type.String({ maxLength: 100, description: 'Id of the subscription.' }) })
const one = { 200: { description: 'The subscription as it is now.', schema: Subscription } }

export type SendTest = (subscription: SubscriptionRow) => Promise<Record<string, unknown>>

export interface SubscriptionDependencies {
  readonly guard: TargetGuard
  readonly waker: Waker
  readonly sendTest: SendTest
}

export function subscriptionRoutes(
  ctx: Context,
  { guard, waker, sendTest }: SubscriptionDependencies,
): Route<PartnerCaller>[] {
  const change = async (work: (tx: Tx) => Promise<Reply>): Promise<Reply> => {
    const reply = await ctx.db.transaction(work)
    waker.wake()
    return reply
  }
  return [
    webhookRoute({
      method: 'POST',
      path: '/webhooks/subscriptions',
      id: 'createSubscription',
      tag,
      summary: 'Create a webhook subscription',
      description:
        'Takes one subscription, or `{"subscriptions": [ … ]}` with several, of which all or none are created. At most 100 per partner. The URL must be https and lead to a public address.',
      access: 'webhooks:write',
      idempotent: true,
      body: Type.Union([NewSubscription, NewSubscriptions]),
      replies: {
        201: {
          description: 'What was created, in the form it was asked for.',
          schema: Type.Union([Subscription, Subscriptions]),
        },
      },
      errors: ['conflict'],
      async handle({ caller, body, request }) {
        const several = 'subscriptions' in body
        const reply = await idempotently(ctx.db, request, { owner: caller.partnerId }, async (tx) => {
          const wanted = several ? body.subscriptions : [body]
          const place = (i: number) => (several ? `subscriptions[${i}].` : '')
          const rows = await createSubscriptions(tx, keyActor(caller, request), guard, caller.partnerId, wanted, place)
          const views = rows.map(subscriptionView)
          return { status: 201, body: several ? { subscriptions: views } : views[0]! }
        })
        waker.wake()
        return reply
      },
    }),
    webhookRoute({
      method: 'GET',
      path: '/webhooks/subscriptions',
      id: 'listSubscriptions',
      tag,
      summary: 'List webhook subscriptions',
      access: 'webhooks:read',
      query: noFilters,
      replies: { 200: pageOf('subscriptions', Subscription) },
      async handle({ caller, query }) {
        const page = readPage(query)
        const rows = await listSubscriptions(ctx.db, caller.partnerId, page)
        return pageReply('subscriptions', rows, page, subscriptionView, (row) => row.id)
      },
    }),
    webhookRoute({
      method: 'GET',
      path: '/webhooks/subscriptions/{subscription_id}',
      id: 'getSubscription',
      tag,
      summary: 'Show a webhook subscription',
      access: 'webhooks:read',
      params,
      replies: one,
      errors: ['not_found'],
      async handle({ caller, params }) {
        return { status: 200, body: subscriptionView(await existing(ctx, caller, params.subscription_id)) }
      },
    }),
    webhookRoute({
      method: 'PATCH',
      path: '/webhooks/subscriptions/{subscription_id}',
      id: 'changeSubscription',
      tag,
      summary: 'Change a webhook subscription',
      description:
        'The next attempt of any event uses the new URL. Disabling keeps undelivered events, in `error`, to be resent.',
      access: 'webhooks:write',
      params,
      body: SubscriptionChange,
      replies: one,
      errors: ['not_found'],
      handle: ({ caller, params, body, request }) =>
        change(async (tx) => ({
          status: 200,
          body: subscriptionView(
            await changeSubscription(
              tx,
              keyActor(caller, request),
              guard,
              caller.partnerId,
              params.subscription_id,
              body,
            ),
          ),
        })),
    }),
    webhookRoute({
      method: 'DELETE',
      path: '/webhooks/subscriptions/{subscription_id}',
      id: 'deleteSubscription',
      tag,
      summary: 'Delete a webhook subscription',
      description: 'Its pending events become `error` with the reason `subscription_deleted`.',
      access: 'webhooks:write',
      params,
      replies: { 204: { description: 'Deleted.' } },
      errors: ['not_found'],
      handle: ({ caller, params, request }) =>
        change(async (tx) => {
          await deleteSubscription(tx, keyActor(caller, request), caller.partnerId, params.subscription_id)
          return { status: 204 }
        }),
    }),
    webhookRoute({
      method: 'POST',
      path: '/webhooks/subscriptions/{subscription_id}/disable',
      id: 'disableSubscription',
      tag,
      summary: 'Disable a webhook subscription',
      description:
        'Undelivered events move to `error` with the reason `subscription_disabled`; new ones are kept the same way.',
      access: 'webhooks:write',
      params,
      replies: one,
      errors: ['not_found'],
      handle: ({ caller, params, request }) =>
        change(async (tx) => {
          const actor = keyActor(caller, request)
          const row = await changeSubscription(tx, actor, guard, caller.partnerId, params.subscription_id, {
            state: 'disabled',
          })
          return { status: 200, body: subscriptionView(row) }
        }),
    }),
    webhookRoute({
      method: 'POST',
      path: '/webhooks/subscriptions/{subscription_id}/enable',
      id: 'enableSubscription',
      tag,
      summary: 'Enable a webhook subscription, and replay what it missed',
      description:
        'With `{"replay": true}` every event that was kept while it was disabled is sent, on the full retry schedule.',
      access: 'webhooks:write',
      params,
      body: Type.Object(
        { replay: Type.Boolean({ description: 'Whether to send what was missed.' }) },
        { additionalProperties: false },
      ),
      replies: {
        200: {
          description: 'The subscription, and the replay when one was asked for.',
          schema: Type.Object({ subscription: Subscription, replay: Type.Union([BulkResend, Type.Null()]) }),
        },
      },
      errors: ['not_found'],
      handle: ({ caller, params, body, request }) =>
        change(async (tx) => {
          const actor = keyActor(caller, request)
          const id = params.subscription_id
          const row = await changeSubscription(tx, actor, guard, caller.partnerId, id, { state: 'enabled' })
          const missed = { subscription_id: id, state: 'error' as const, error_reason: 'subscription_disabled' }
          const replay = body.replay ? bulkView(await startBulkResend(tx, actor, caller.partnerId, missed)) : null
          return { status: 200, body: { subscription: subscriptionView(row), replay } }
        }),
    }),
    webhookRoute({
      method: 'POST',
      path: '/webhooks/subscriptions/{subscription_id}/retry-now',
      id: 'retryNow',
      tag,
      summary: 'Bring all waiting retries forward',
      access: 'webhooks:write',
      params,
      replies: {
        200: {
          description: 'How many retries are due now instead of later.',
          schema: Type.Object({ retried: Type.Integer({ description: 'Events brought forward.' }) }),
        },
      },
      errors: ['not_found', 'conflict'],
      handle: ({ caller, params, request }) =>
        change(async (tx) => ({
          status: 200,
          body: { retried: await retryNow(tx, keyActor(caller, request), caller.partnerId, params.subscription_id) },
        })),
    }),
    webhookRoute({
      method: 'POST',
      path: '/webhooks/subscriptions/{subscription_id}/test',
      id: 'testSubscription',
      tag,
      summary: 'Send a signed test event and see what the endpoint answers',
      description: 'Sent at once, whatever the state of the subscription; not stored and not retried.',
      access: 'webhooks:write',
      params,
      replies: { 200: { description: 'What the endpoint answered.', schema: TestResult } },
      errors: ['not_found'],
      async handle({ caller, params }) {
        return { status: 200, body: await sendTest(await existing(ctx, caller, params.subscription_id)) }
      },
    }),
  ]
}

async function existing(ctx: Context, { partnerId }: PartnerCaller, id: string): Promise<SubscriptionRow> {
  const row = await findSubscription(ctx.db, partnerId, id)
  if (!row) throw noSuchSubscription()
  return row
}
