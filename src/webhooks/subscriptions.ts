// Subscriptions: made, changed, enabled, disabled, deleted. Every change signals the lane, so that the next attempt already
// follows it; nothing that was published vanishes.
import type { Tx } from '../db/db.ts'
import { fail } from '../errors.ts'
import { newId } from '../ids.ts'
import { tellReset } from '../live/entries.ts'
import { type Actor, audit } from '../partners/audit.ts'
import { utcSeconds } from '../times.ts'
import {
  countSubscriptions,
  giveUpAllPending,
  insertSubscription,
  lockSubscription,
  markSubscriptionDeleted,
  resetLane,
  retryAllNow,
  type SubscriptionRow,
  updateSubscription,
} from './queries.ts'
import type { NewSubscription, SubscriptionChange } from './schema.ts'
import { signalLanes } from './signals.ts'
import type { TargetGuard } from './target.ts'

const mostPerPartner = 100

export async function createSubscriptions(
  tx: Tx,
  actor: Actor,
  guard: TargetGuard,
  partnerId: string,
  wanted: readonly NewSubscription[],
  place: (index: number) => string,
): Promise<SubscriptionRow[]> {
  for (const [i, { url }] of wanted.entries()) guard.checkUrl(url, `${place(i)}url`)
  if ((await countSubscriptions(tx, partnerId)) + wanted.length > mostPerPartner) {
    throw fail('conflict', `A partner can have ${mostPerPartner} subscriptions; delete one first.`)
  }
  const rows: SubscriptionRow[] = []
  for (const each of wanted) {
    const row = await insertSubscription(tx, partnerId, newId('sub'), each)
    await audit(tx, actor, {
      action: 'subscription.created',
      partnerId,
      targetId: row.id,
      details: { url: row.url, events: row.events },
    })
    rows.push(row)
  }
  await signalLanes(
    tx,
    rows.map((row) => row.id),
    '*',
  )
  return rows
}

export async function changeSubscription(
  tx: Tx,
  actor: Actor,
  guard: TargetGuard,
  partnerId: string,
  id: string,
  change: SubscriptionChange,
): Promise<SubscriptionRow> {
  if (change.url !== undefined) guard.checkUrl(change.url, 'url')
  const row = await lockOrFail(tx, partnerId, id)
  const changed: SubscriptionRow = {
    ...row,
    url: change.url ?? row.url,
    events: change.events ?? row.events,
    description: change.description ?? row.description,
    rateLimitPerSecond:
      change.rate_limit_per_second === undefined ? row.rateLimitPerSecond : change.rate_limit_per_second,
    state: change.state ?? row.state,
    disabledReason: nextReason(row, change.state),
  }
  await updateSubscription(tx, changed)
  // A new address or a new start: the old one's failures say nothing about it.
  if (changed.url !== row.url || (row.state === 'disabled' && changed.state === 'enabled')) await resetLane(tx, id)
  await audit(tx, actor, { action: 'subscription.changed', partnerId, targetId: id, details: { ...change } })
  await signalLanes(tx, [id], '*')
  return changed
}

function nextReason(row: SubscriptionRow, state: SubscriptionChange['state']): string | null {
  if (state === 'enabled') return null
  if (state === 'disabled' && row.state === 'enabled') return 'disabled_by_partner'
  return row.disabledReason
}

// Pending events become `error` in the same transaction: nothing waits for an endpoint that is no longer wanted.
export async function deleteSubscription(tx: Tx, actor: Actor, partnerId: string, id: string): Promise<void> {
  await lockOrFail(tx, partnerId, id)
  await markSubscriptionDeleted(tx, partnerId, id)
  await giveUpAllPending(tx, id, 'subscription_deleted')
  await tellReset(tx, partnerId)
  await audit(tx, actor, { action: 'subscription.deleted', partnerId, targetId: id })
  await signalLanes(tx, [id], '*')
}

export async function retryNow(tx: Tx, actor: Actor, partnerId: string, id: string): Promise<number> {
  const row = await lockOrFail(tx, partnerId, id)
  if (row.state === 'disabled') throw fail('conflict', 'The subscription is disabled; enable it first.')
  await resetLane(tx, id)
  const count = await retryAllNow(tx, id)
  await audit(tx, actor, { action: 'subscription.retried', partnerId, targetId: id, details: { count } })
  await signalLanes(tx, [id], '*')
  await signalLanes(tx, [id], 'r')
  return count
}

async function lockOrFail(tx: Tx, partnerId: string, id: string): Promise<SubscriptionRow> {
  const row = await lockSubscription(tx, partnerId, id)
  if (!row) throw noSuchSubscription()
  return row
}

export function noSuchSubscription() {
  return fail('not_found', 'There is no such subscription.')
}

export function subscriptionView(row: SubscriptionRow) {
  return {
    id: row.id,
    url: row.url,
    events: row.events,
    created_at: utcSeconds(row.createdAt),
    state: row.state,
    disabled_reason: row.disabledReason,
    description: row.description,
    rate_limit_per_second: row.rateLimitPerSecond,
  }
}
