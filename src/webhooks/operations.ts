// The operator's own hook: told through the same engine, with the same signature and retries, when an endpoint starts failing,
// is disabled, or recovers, and when a payout is overdue. Its subscription belongs to an internal partner that no API shows.
import type { Context } from '../context.ts'
import type { Tx } from '../db/db.ts'
import { newId } from '../ids.ts'
import { offsetMicros, type Timestamp } from '../times.ts'
import { insertEvents } from './publishing.ts'
import { signalLanes } from './signals.ts'

export const operationsPartnerId = 'operations'
const subscriptionId = 'sub_operations'

export async function ensureOperationsHook(tx: Tx, url: string | undefined): Promise<void> {
  if (url !== undefined) {
    await tx.query(`insert into partners (id, configuration_version) values ($1, 0) on conflict do nothing`, [
      operationsPartnerId,
    ])
    await tx.query(
      `insert into subscriptions (partner_id, id, url, events) values ($1, $2, $3, '{}')
       on conflict (partner_id, id) do update set url = $3, state = 'enabled', disabled_reason = null`,
      [operationsPartnerId, subscriptionId, url],
    )
    await tx.query(`insert into lanes (subscription_id, partner_id) values ($1, $2) on conflict do nothing`, [
      subscriptionId,
      operationsPartnerId,
    ])
  } else {
    await tx.query(`update subscriptions set state = 'disabled' where partner_id = $1 and id = $2`, [
      operationsPartnerId,
      subscriptionId,
    ])
  }
  await signalLanes(tx, [subscriptionId], '*')
}

// `entities` is what the body carries besides `id`, `action` and `created_at`.
export async function emitOperational(
  ctx: Context,
  tx: Tx,
  action: string,
  resourceId: string,
  entities: Record<string, unknown>,
): Promise<void> {
  if (ctx.config.operationsWebhookUrl === undefined) return
  const { rows } = await tx.query<{ now: Timestamp }>('select now() as now')
  const createdAt = rows[0]!.now
  const id = newId('evt', Date.parse(createdAt))
  const payload = Buffer.from(JSON.stringify({ id, action, created_at: offsetMicros(createdAt), ...entities }))
  await insertEvents(tx, [
    {
      partnerId: operationsPartnerId,
      id,
      subscriptionId,
      publicationId: newId('pub'),
      action,
      resourceId,
      payload,
      enabled: true,
      createdAt,
    },
  ])
}
