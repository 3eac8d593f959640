// What attempts say about endpoints, written with the attempts themselves: the record of failures that the breaker and the
// automatic disabling go by, and news for the operator.
import type { Context } from '../context.ts'
import type { Tx } from '../db/db.ts'
import { type Actor, audit } from '../partners/audit.ts'
import { emitOperational, operationsPartnerId } from '../webhooks/operations.ts'
import { signalLanes } from '../webhooks/signals.ts'
import type { Lane } from './lane.ts'
import type { Result } from './settle.ts'

const disableAfterAttempts = 20
const disableAfter = `interval '5 days'`
const service: Actor = { kind: 'system', id: 'delivery', name: 'delivery', requestId: null }

export async function writeHealth(ctx: Context, tx: Tx, results: readonly Result[]): Promise<void> {
  const changed = new Set<Lane>()
  for (const { lane } of results) if (lane.failures > 0 || lane.row.failures > 0) changed.add(lane)
  const gone = results.filter(({ outcome }) => outcome.kind === 'status' && outcome.status === 410)
  for (const { lane, health } of results) {
    if (health !== undefined) await tellOperator(ctx, tx, `endpoint-${health}`, lane)
  }
  for (const { lane, url } of gone) await disable(ctx, tx, lane, url, 'endpoint_gone', false)
  for (const lane of changed)
    if (lane.failures >= disableAfterAttempts) await disable(ctx, tx, lane, lane.row.url, 'failing_for_five_days', true)
  if (changed.size > 0) await storeHealth(tx, [...changed].sort(byId))
}

const byId = (a: Lane, b: Lane) => (a.id < b.id ? -1 : 1)

async function storeHealth(tx: Tx, lanes: readonly Lane[]): Promise<void> {
  const nowMs = performance.now()
  await tx.query(
    `update lanes l set failures = n.failures, pause_ms = n.pause_ms,
       failing_since = case when n.failures > 0 then coalesce(l.failing_since, now()) end,
       paused_until = case when n.paused_ms > 0 then now() + n.paused_ms * interval '1 millisecond' end
     from unnest($1::text[], $2::int[], $3::int[], $4::float8[]) as n (subscription_id, failures, pause_ms, paused_ms)
     where l.subscription_id = n.subscription_id`,
    [
      lanes.map((lane) => lane.id),
      lanes.map((lane) => lane.failures),
      lanes.map((lane) => lane.pauseMs),
      lanes.map((lane) => lane.pausedUntilMs - nowMs),
    ],
  )
}

// What the old address answered says nothing about a new one: the URL is part of the match.
async function disable(
  ctx: Context,
  tx: Tx,
  lane: Lane,
  url: string,
  reason: string,
  onlyAfterDays: boolean,
): Promise<void> {
  const { count } = await tx.query(
    `update subscriptions s set state = 'disabled', disabled_reason = $3
     from lanes l where l.subscription_id = s.id and s.partner_id = $1 and s.id = $2 and s.state = 'enabled' and s.deleted_at is null
       and s.url = $5 and (not $4 or l.failing_since < now() - ${disableAfter})`,
    [lane.partnerId, lane.id, reason, onlyAfterDays, url],
  )
  if (count === 0) return
  await audit(tx, service, {
    action: 'subscription.disabled',
    partnerId: lane.partnerId,
    targetId: lane.id,
    details: { reason },
  })
  await tellOperator(ctx, tx, 'endpoint-disabled', lane, { disabled_reason: reason })
  await signalLanes(tx, [lane.id], '*')
}

// About every endpoint but the operator's own.
async function tellOperator(ctx: Context, tx: Tx, action: string, lane: Lane, more: object = {}): Promise<void> {
  if (lane.partnerId === operationsPartnerId) return
  const subscription = { id: lane.id, partner_id: lane.partnerId, url: lane.row.url, ...more }
  await emitOperational(ctx, tx, action, lane.id, { subscription })
}
