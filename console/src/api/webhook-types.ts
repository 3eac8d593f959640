// What the service answers about webhooks, and the eight event types.

export const eventTypes = {
  'order-closed': 'Order has been completed or cancelled',
  'order-updated': 'Order status has changed',
  'partner-order-created': 'Partner order has been created',
  'partner-order-closed': 'Partner order has been completed or cancelled',
  'partner-order-updated': 'Partner order status has changed',
  'customer-state-changed': 'Customer state has changed',
  'customer-requirement-rejected': 'Customer KYC requirement was rejected',
  'incoming-funds': 'Funds have been received at a receiving address',
} as const
export const eventTypeNames: readonly string[] = Object.keys(eventTypes)

export interface Subscription {
  id: string
  url: string
  events: string[]
  created_at: string
  state: 'enabled' | 'disabled'
  disabled_reason: string | null
  description: string
  rate_limit_per_second: number | null
}

export type EventState = 'pending' | 'completed' | 'error'
export interface WebhookEvent {
  id: string
  publication_id: string
  action: string
  state: EventState
  created_at: string
  delivery_url: string
  delivery_tries: number
  delivered_at: string | null
  last_attempt_at: string | null
  next_attempt_at: string | null
  last_response_status: number | null
  error_reason: string | null
  subscription_id: string
  resource_id: string
}
export interface Attempt {
  number: number
  at: string
  url: string
  status: number | null
  error_kind: string | null
  error_detail: string | null
  duration_ms: number
  response_body: string | null
}
export interface EventDetails extends WebhookEvent {
  payload: Record<string, unknown>
  attempts: Attempt[]
}
export interface TestResult {
  event: { id: string } & Record<string, unknown>
  headers: Record<string, string>
  delivered: boolean
  status: number | null
  error_kind: string | null
  error_detail: string | null
  duration_ms: number
  response_body: string | null
}
export interface BulkResend {
  id: string
  state: 'running' | 'completed'
  filters: Record<string, unknown>
  resent: number
  skipped: number
  created_at: string
  finished_at: string | null
}

export type Health = 'ok' | 'failing' | 'paused' | 'disabled' | 'idle'
export interface Latency {
  p50: number
  p90: number
  p99: number
}
export interface SubscriptionStats {
  id: string
  url: string
  description: string
  state: 'enabled' | 'disabled'
  health: Health
  failing_since: string | null
  paused_until: string | null
  attempts: number
  delivered: number
  failed: number
  latency_ms: Latency | null
  pending: number
  last_error: { at: string; event_id: string; status: number | null; error_kind: string | null } | null
}
export interface Bucket {
  at: string
  delivered: number
  failed: number
}
export interface Stats {
  window: string
  from: string
  to: string
  bucket_seconds: number
  buckets: Bucket[]
  attempts: number
  delivered: number
  failed: number
  success_rate: number | null
  latency_ms: Latency | null
  pending: number
  oldest_undelivered_at: string | null
  subscriptions: SubscriptionStats[]
}
export interface StreamAttempt {
  event_id: string
  subscription_id: string
  number: number
  at: string
  status: number | null
  error_kind: string | null
  duration_ms: number
}
export interface StreamOrder {
  id: string
  state: string
  state_reason: string | null
  last_updated_at: string
}
