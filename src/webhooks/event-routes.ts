// The partner's webhook routes: events. Search, details with attempts, resend of one and of many.
import Type from 'typebox'
import type { Context } from '../context.ts'
import { fail } from '../errors.ts'
import { idempotently } from '../http/idempotency.ts'
import { pageOf, pageQuery, pageReply, readPage } from '../http/paging.ts'
import { type Route, route } from '../http/route.ts'
import { keyActor, type PartnerCaller } from '../partners/gate.ts'
import { attemptView, bulkView, eventView, findBulkResend, resendEvent, startBulkResend } from './events.ts'
import { findEvent, listAttempts, searchEvents } from './queries.ts'
import { BulkResend, EventFilters, eventFilters, ResentEvent, WebhookEvent, WebhookEventDetails } from './schema.ts'
import type { Waker } from './signals.ts'

const webhookRoute = route<PartnerCaller>()
const tag = 'Webhook events'
const params = Type.Object({ event_id: Type.String({ maxLength: 100, description: 'Id of the event.' }) })

export function eventRoutes(ctx: Context, waker: Waker): Route<PartnerCaller>[] {
  return [
    webhookRoute({
      method: 'GET',
      path: '/webhooks/events',
      id: 'searchEvents',
      tag,
      summary: 'Search events',
      access: 'webhooks:read',
      query: Type.Object({ ...pageQuery, ...eventFilters }, { additionalProperties: false }),
      replies: { 200: pageOf('events', WebhookEvent) },
      async handle({ caller, query }) {
        const page = readPage(query)
        return pageReply(
          'events',
          await searchEvents(ctx.db, caller.partnerId, query, page),
          page,
          eventView,
          (row) => row.id,
        )
      },
    }),
    webhookRoute({
      method: 'GET',
      path: '/webhooks/events/{event_id}',
      id: 'getEvent',
      tag,
      summary: 'Show an event with its payload and attempts',
      access: 'webhooks:read',
      params,
      replies: { 200: { description: 'The event.', schema: WebhookEventDetails } },
      errors: ['not_found'],
      async handle({ caller, params }) {
        const row = await findEvent(ctx.db, caller.partnerId, params.event_id)
        if (!row) throw fail('not_found', 'There is no such event.')
        const attempts = await listAttempts(ctx.db, caller.partnerId, row.id)
        // The payload is put in as the text it is: parsed and written again, some of its numbers would change.
        const start = JSON.stringify(eventView(row)).slice(0, -1)
        const end = `,"attempts":${JSON.stringify(attempts.map(attemptView))}}`
        const body = Buffer.concat([Buffer.from(`${start},"payload":`), row.payload, Buffer.from(end)])
        return { status: 200, body, headers: { 'content-type': 'application/json; charset=utf-8' } }
      },
    }),
    webhookRoute({
      method: 'POST',
      path: '/webhooks/events/{event_id}/resend',
      id: 'resendEvent',
      tag,
      summary: 'Resend an event',
      description:
        'Makes one new delivery attempt with the original payload and a new signature. The event is `pending` until it ends, then `completed` or `error`.',
      access: 'webhooks:write',
      idempotent: true,
      params,
      replies: { 200: { description: 'Queued for redelivery.', schema: ResentEvent } },
      errors: ['not_found', 'invalid_event_state'],
      async handle({ caller, params, request }) {
        const reply = await idempotently(ctx.db, request, { owner: caller.partnerId }, async (tx) => ({
          status: 200,
          body: await resendEvent(tx, keyActor(caller, request), caller.partnerId, params.event_id),
        }))
        waker.wake()
        return reply
      },
    }),
    webhookRoute({
      method: 'POST',
      path: '/webhooks/events/resend',
      id: 'resendEvents',
      tag,
      summary: 'Resend all finished events that match',
      description:
        'Durable and without a cap: it goes on after a restart, and its progress can be read. Takes events that exist now; each goes through the full retry schedule.',
      access: 'webhooks:write',
      idempotent: true,
      body: EventFilters,
      replies: { 201: { description: 'Begun.', schema: BulkResend } },
      async handle({ caller, body, request }) {
        const reply = await idempotently(ctx.db, request, { owner: caller.partnerId }, async (tx) => ({
          status: 201,
          body: bulkView(await startBulkResend(tx, keyActor(caller, request), caller.partnerId, body)),
        }))
        waker.wake()
        return reply
      },
    }),
    webhookRoute({
      method: 'GET',
      path: '/webhooks/resends/{resend_id}',
      id: 'getBulkResend',
      tag,
      summary: 'Show how far a bulk resend is',
      access: 'webhooks:read',
      params: Type.Object({ resend_id: Type.String({ maxLength: 100, description: 'Id of the bulk resend.' }) }),
      replies: { 200: { description: 'Its progress.', schema: BulkResend } },
      errors: ['not_found'],
      async handle({ caller, params }) {
        const row = await findBulkResend(ctx.db, caller.partnerId, params.resend_id)
        if (!row) throw fail('not_found', 'There is no such bulk resend.')
        return { status: 200, body: bulkView(row) }
      },
    }),
  ]
}
