// What the operator listener answers.
import type { Account, Order } from './types.ts'
import type { Health, Latency } from './webhook-types.ts'

export interface Partner {
  id: string
  name: string
  state: 'active' | 'suspended'
  configuration_version: number
  created_at: string
}
export type Configuration = Account & {
  withdrawal_fees?: { type: string; currency: string; fixed: string; percentage: string }[]
}
export interface ConfigurationVersion {
  version: number
  created_at: string
  created_by: string
  configuration: Configuration
}
export interface OperatorOrder extends Order {
  partner_id: string
  payout_id: string | null
  taken_at: string | null
  taken_by: string | null
  destination: { type: string; currency: string; fields: Record<string, string> } | null
}
export interface AuditEntry {
  id: string
  at: string
  actor: { kind: 'operator' | 'key' | 'system'; id: string; name: string }
  action: string
  partner_id: string | null
  target_id: string | null
  details: Record<string, unknown>
  request_id: string | null
}
export interface SigningKey {
  id: string
  algorithm: string
  signs_from: string
  published_until: string | null
  created_at: string
  created_by: string
}
export interface OperatorToken {
  id: string
  name: string
  roles: string[]
  created_at: string
  created_by: string
  revoked_at: string | null
  secret?: string
}
export interface Reconciliation {
  agrees: boolean
  checked: { partners: number; accounts: number; entries: number; postings: number; orders: number }
  discrepancies: {
    partner_id: string
    currency: string | null
    order_id: string | null
    entry: number | null
    problem: string
  }[]
}
export interface EndpointHealth {
  partner_id: string
  partner_name: string
  subscription_id: string
  url: string
  state: 'enabled' | 'disabled'
  health: Health
  failing_since: string | null
  paused_until: string | null
  pending: number
  attempts: number
  failed: number
  latency_ms: Latency | null
}
export interface Delivery {
  pending: number
  oldest_undelivered_at: string | null
  attempts_last_hour: number
  failed_last_hour: number
  workers: { id: string; started_at: string; heartbeat_at: string }[]
  endpoints: EndpointHealth[]
}
