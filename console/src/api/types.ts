// What the service answers, as its OpenAPI document says.

export type Scope =
  | 'partner:read'
  | 'webhooks:read'
  | 'webhooks:write'
  | 'orders:read'
  | 'orders:write'
  | 'orders:confirm'
  | 'keys:write'
export const scopes: readonly Scope[] = [
  'partner:read',
  'webhooks:read',
  'webhooks:write',
  'orders:read',
  'orders:write',
  'orders:confirm',
  'keys:write',
]
export const scopeMeanings: Record<Scope, string> = {
  'partner:read': 'Read the account',
  'webhooks:read': 'Read subscriptions and events',
  'webhooks:write': 'Change subscriptions, resend events',
  'orders:read': 'Read orders, destinations and balances',
  'orders:write': 'Create and cancel orders and destinations',
  'orders:confirm': 'Confirm orders: money moves',
  'keys:write': 'Manage API keys',
}

export type Role = 'read' | 'support' | 'payouts' | 'admin'
export type Mode = 'sandbox' | 'production'

export interface PartnerSession {
  partner_id: string
  partner_name?: string
  key_id: string
  key_name: string
  scopes: Scope[]
  expires_at: string
  mode: Mode
}
export interface OperatorSession {
  name: string
  roles: Role[]
  expires_at: string
  mode: Mode
}

export type Page<Plural extends string, T> = Record<Plural, T[]> & { next_cursor: string | null }

export interface Limits {
  min_amount: string
  max_amount: string
}
export interface RequiredField {
  key: string
  type: string
  regex?: string
  min_length?: number
  max_length?: number
  optional: boolean
}
export interface OutgoingType {
  type: string
  required_fields: RequiredField[]
  currencies: string[]
}
export interface Account {
  name: string
  logo_url: string
  kyc_mode: string
  available_assets: { id: string; decimal_places: number; allowed_operations: string[] }[]
  available_investments: {
    id: string
    quote_asset: string
    network: string
    provider_id: string
    subscription: Limits
    redemption: Limits
    fee: { type: string; value: string }
    name: string
    enabled: boolean
  }[]
  products: string[]
  available_incoming_fiat_instructions?: {
    type: string
    creation_fees: { type: string; value: string; currency: string }[]
  }[]
  available_outgoing_fiat_instructions?: OutgoingType[]
  delegation_enabled: boolean
}

export interface ApiKey {
  id: string
  name: string
  kind: 'secret' | 'signed_token'
  prefix: string | null
  algorithm: string | null
  scopes: Scope[]
  required_claims: string[]
  allowed_cidrs: string[]
  expires_at: string | null
  last_used_at: string | null
  revoked_at: string | null
  created_at: string
  created_by: string
  secret?: string
}

export interface Instruction {
  id: string
  type: string
  currency: string
  label: string
  fields: Record<string, string>
  fingerprint: string
  created_at: string
}

export type OrderState = 'awaiting_confirmation' | 'pending' | 'processing' | 'completed' | 'cancelled'
export const orderStates: readonly OrderState[] = [
  'awaiting_confirmation',
  'pending',
  'processing',
  'completed',
  'cancelled',
]
export interface Order {
  id: string
  state: OrderState
  reference_id: string | null
  operation: 'withdrawal' | 'top_up' | 'withdrawal_return'
  created_at: string
  processed_at: string | null
  last_updated_at: string
  settlement: { currency: string; amount: string; operation: 'debit' | 'credit' }
  withdrawal?: {
    currency: string
    amount: string
    destination_amount: string
    fee_amount: string
    type: string
    outgoing_instruction: { instruction_id: string }
  }
  top_up?: { currency: string; amount: string }
  withdrawal_return?: { currency: string; amount: string; order_id: string }
  state_reason: string | null
  expires_at: string | null
  closed_at: string | null
}
export interface SettlementAccount {
  currency: string
  available: string
  held: string
  updated_at: string
}
export interface StatementEntry {
  entry: number
  created_at: string
  kind: 'top_up' | 'hold' | 'release' | 'payout' | 'return'
  order_id: string
  available_change: string
  held_change: string
  available: string
  held: string
}
export interface LoggedRequest {
  request_id: string
  at: string
  method: string
  path: string
  status: number
  error_code: string | null
  error_msg: string | null
  duration_ms: number
  key_id: string | null
  address: string | null
}
export interface SignInLink {
  url: string
  expires_at: string
}
