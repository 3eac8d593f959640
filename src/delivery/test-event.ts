// A test: one signed event, sent at once past queue and breaker, and what the endpoint answered. Nothing of it is stored.
import type { Context } from '../context.ts'
import { newId } from '../ids.ts'
import type { Signer } from '../signing/signer.ts'
import type { SendTest } from '../webhooks/routes.ts'
import { deliver } from './attempt.ts'
import { isSuccess } from './outcome.ts'
import type { Sender } from './sender.ts'

export function createTestSender(ctx: Context, signer: Signer, sender: Sender): SendTest {
  return async ({ id: subscriptionId, url }) => {
    const createdAt = ctx.now().toISOString().replace('Z', '000+00:00')
    const event = { id: newId('evt'), action: 'test', created_at: createdAt }
    const body = Buffer.from(JSON.stringify(event))
    const outcome = await deliver(sender, signer, {
      eventId: event.id,
      subscriptionId,
      action: 'test',
      attempt: 1,
      url,
      body,
    })
    const answered = outcome.kind === 'status'
    return {
      event,
      delivered: isSuccess(outcome),
      status: answered ? outcome.status : null,
      error_kind: answered ? null : outcome.kind,
      error_detail: answered ? null : outcome.detail,
      duration_ms: outcome.durationMs,
      response_body: answered ? outcome.body.toString('utf8') : null,
    }
  }
}
