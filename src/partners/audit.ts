// The audit log: who did what, written in the same transaction as the deed, so that neither exists without the other.
import type { Queryable, Tx } from '../db/db.ts'
import type { Page } from '../http/paging.ts'
import { newId } from '../ids.ts'
import type { Timestamp } from '../times.ts'

export interface Actor {
  readonly kind: 'operator' | 'key' | 'system'
  readonly id: string
  readonly name: string
  readonly requestId: string | null
}

export interface Deed {
  readonly action: string // noun.verb: partner.created, key.revoked
  readonly partnerId?: string
  readonly targetId?: string
  readonly details?: Record<string, unknown> // never a secret
}

// How an actor is named where only one text fits, such as `created_by`.
export function actorLabel({ kind, name, id }: Actor): string {
  return kind === 'system' ? name : `${kind} ${name} (${id})`
}

export async function audit(tx: Tx, actor: Actor, { action, partnerId, targetId, details = {} }: Deed): Promise<void> {
  await tx.query(
    `insert into audit_log (id, actor_kind, actor_id, actor_name, action, partner_id, target_id, details, request_id)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [
      newId('aud'),
      actor.kind,
      actor.id,
      actor.name,
      action,
      partnerId ?? null,
      targetId ?? null,
      JSON.stringify(details),
      actor.requestId,
    ],
  )
}

export interface AuditRow {
  id: string
  at: Timestamp
  actorKind: string
  actorId: string
  actorName: string
  action: string
  partnerId: string | null
  targetId: string | null
  details: unknown
  requestId: string | null
}

// Uses audit_log_partner when a partner is named, the primary key otherwise.
export async function listAuditLog(db: Queryable, partnerId: string | null, page: Page): Promise<AuditRow[]> {
  const { rows } = await db.query<AuditRow>(
    `select * from audit_log
     where ($1::text is null or partner_id = $1) and ($2::text is null or id < $2)
     order by id desc limit $3`,
    [partnerId, page.before, page.limit + 1],
  )
  return rows
}
