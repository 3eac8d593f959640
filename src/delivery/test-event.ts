// A test: one signed event, sent at once past queue and breaker, and what the endpoint answered. Nothing of it is stored.
import type { Context } from '../context.ts'
import { newId } from '../ids.ts'
import type { Signer } from '../signing/signer.ts'
import type { SendTest } from '../webhooks/routes.ts'
import { headersOf } from './attempt.ts'
import { isSuccess } from './outcome.ts'
import type { Sender } from './sender.ts'

export function createTestSender(ctx: Context, signer: Signer, sender: Sender): SendTest {
  return async ({ id: subscriptionId, url }) => {
    const createdAt = ctx.now().toISOString().replace('Z', '000+00:00')
    const event = { id: newId('evt'), action: 'test', created_at: createdAt }
    const body = Buffer.from(JSON.stringify(event))
    const headers = headersOf(signer, { eventId: event.id, subscriptionId, action: 'test', attempt: 1, body })
    const outcome = await sender.send(url, headers, body)
    const answered = outcome.kind === 'status'
    return {
      event,
      headers: Object.fromEntries(headers.flatMap((name, i) => (i % 2 === 0 ? [[name, headers[i + 1]]] : []))),
      delivered: isSuccess(outcome),
      status: answered ? outcome.status : null,
      error_kind: answered ? null : outcome.kind,
      error_detail: answered ? null : outcome.detail,
      duration_ms: outcome.durationMs,
      response_body: answered ? outcome.body.toString('utf8') : null,
    }
  }
}
