// The operator's own hook: told through the same engine, with the same signature and retries, when an endpoint starts failing,
// is disabled, or recovers. Its subscription belongs to an internal partner that no API shows.
import type { Context } from '../context.ts'
import type { Tx } from '../db/db.ts'
import { newId } from '../ids.ts'
import { offsetMicros, type Timestamp } from '../times.ts'
import { insertEvents } from '../webhooks/publishing.ts'
import { signalLanes } from '../webhooks/signals.ts'
import type { Lane } from './lane.ts'

const partnerId = 'operations'
const subscriptionId = 'sub_operations'

export async function ensureOperationsHook(tx: Tx, url: string | undefined): Promise<void> {
  if (url !== undefined) {
    await tx.query(`insert into partners (id, configuration_version) values ($1, 0) on conflict do nothing`, [
      partnerId,
    ])
    await tx.query(
      `insert into subscriptions (partner_id, id, url, events) values ($1, $2, $3, '{}')
       on conflict (partner_id, id) do update set url = $3, state = 'enabled', disabled_reason = null`,
      [partnerId, subscriptionId, url],
    )
    await tx.query(`insert into lanes (subscription_id, partner_id) values ($1, $2) on conflict do nothing`, [
      subscriptionId,
      partnerId,
    ])
  } else {
    await tx.query(`update subscriptions set state = 'disabled' where partner_id = $1 and id = $2`, [
      partnerId,
      subscriptionId,
    ])
  }
  await signalLanes(tx, [subscriptionId], '*')
}

export async function emitOperational(
  ctx: Context,
  tx: Tx,
  action: string,
  lane: Lane,
  reason?: string,
): Promise<void> {
  if (ctx.config.operationsWebhookUrl === undefined || lane.partnerId === partnerId) return
  const { rows } = await tx.query<{ now: Timestamp }>('select now() as now')
  const createdAt = rows[0]!.now
  const id = newId('evt', Date.parse(createdAt))
  const subscription = {
    id: lane.id,
    partner_id: lane.partnerId,
    url: lane.row.url,
    ...(reason ? { disabled_reason: reason } : {}),
  }
  const payload = Buffer.from(JSON.stringify({ id, action, created_at: offsetMicros(createdAt), subscription }))
  await insertEvents(tx, [
    {
      partnerId,
      id,
      subscriptionId,
      publicationId: newId('pub'),
      action,
      resourceId: lane.id,
      payload,
      enabled: true,
      createdAt,
    },
  ])
}
