// The eight event types: what each means, which entity its body carries, and an example. Publishing validates against this,
// and the OpenAPI document and the docs are made from it.
import Type, { type TSchema } from 'typebox'
import { bodyValidator, type Validator } from '../http/validation.ts'

const text = (description: string) => Type.String({ minLength: 1, maxLength: 500, description })
const decimal = (description: string) =>
  Type.String({ pattern: '^(0|[1-9][0-9]*)(\\.[0-9]+)?$', maxLength: 80, description })
const offsetTime = (description: string) => Type.String({ format: 'date-time', description })
const offsetTimeOrNull = (description: string) =>
  Type.Union([Type.String({ format: 'date-time' }), Type.Null()], { description })

// Members beyond those required pass through unchanged.
const open = { additionalProperties: true }
export const OrderEntity = Type.Object(
  { id: text('Order id.'), state: text('Order state.'), operation: text('What the order does.') },
  { ...open, description: 'An order of the platform, as the platform published it.' },
)
export const CustomerEntity = Type.Object(
  { id: text('Customer id.'), state: text('Customer state.') },
  { ...open, description: 'A customer, as the platform published it.' },
)
export const RequirementEntity = Type.Object(
  { type: text('Which requirement.'), reason: text('Why it was rejected.') },
  { ...open, description: 'The KYC requirement that was rejected.' },
)
export const IncomingFundsEntity = Type.Object(
  {
    customer_id: text('Whose address received the funds.'),
    currency: text('Currency code.'),
    amount: decimal('Amount received.'),
    network: text('Network they came over.'),
    address: text('The receiving address.'),
    transaction_hash: text('The transaction on that network.'),
  },
  { ...open, description: 'Funds that arrived at a receiving address.' },
)
export const PartnerOrderEntity = Type.Object(
  {
    id: text('Order id.'),
    state: text('Order state.'),
    reference_id: Type.Union([Type.String(), Type.Null()], { description: 'Reference supplied by the partner.' }),
    operation: text('What the order does, for example `withdrawal`.'),
    created_at: offsetTime('When it was created.'),
    processed_at: offsetTimeOrNull('When its confirmation released it for processing.'),
    last_updated_at: offsetTime('When it last changed.'),
    settlement: Type.Object(
      { currency: text('Currency code.'), amount: decimal('Amount.'), operation: text('`debit` or `credit`.') },
      { description: 'What it does to the settlement account.' },
    ),
  },
  { ...open, description: 'A partner order, exactly as order details returned it at that moment.' },
)

const order = { id: 'core-order-1', state: 'completed', operation: 'buy' }
const customer = { id: 'customer-1', state: 'approved' }
const partnerOrder = {
  id: 'ord_01m7f0b9qn8y4t0cf4e6d5yeth',
  state: 'pending',
  reference_id: 'payout-2041',
  operation: 'withdrawal',
  created_at: '2026-01-05T12:00:00+00:00',
  processed_at: '2026-01-05T12:01:00+00:00',
  last_updated_at: '2026-01-05T12:01:00+00:00',
  settlement: { currency: 'ARS', amount: '1055.00', operation: 'debit' },
  withdrawal: {
    currency: 'ARS',
    amount: '1055.00',
    destination_amount: '1000.00',
    fee_amount: '55.00',
    type: 'outgoing_instruction',
    outgoing_instruction: { instruction_id: 'oin_01m7f0b9qn8y4t0cf4e6d5yeth' },
  },
}
const incomingFunds = {
  customer_id: 'customer-1',
  currency: 'USDC',
  amount: '25.5',
  network: 'ethereum',
  address: '0x52908400098527886E0F7030069857D2E4169EE7',
  transaction_hash: '0x88df016429689c079f3b2f6ad39fa052532c56795b733da78a91ebe6a713944b',
}

interface EventType {
  readonly meaning: string
  readonly entities: Readonly<Record<string, TSchema>> // the first is what the event is about
  readonly example: Readonly<Record<string, Record<string, unknown>>>
}

const type = (meaning: string, entities: Record<string, TSchema>, example: EventType['example']): EventType => ({
  meaning,
  entities,
  example,
})

export const catalogue = {
  'order-closed': type('Order has been completed or cancelled', { order: OrderEntity }, { order }),
  'order-updated': type(
    'Order status has changed',
    { order: OrderEntity },
    { order: { ...order, state: 'processing' } },
  ),
  'partner-order-created': type(
    'Partner order has been created',
    { partner_order: PartnerOrderEntity },
    { partner_order: { ...partnerOrder, state: 'awaiting_confirmation', processed_at: null } },
  ),
  'partner-order-closed': type(
    'Partner order has been completed or cancelled',
    { partner_order: PartnerOrderEntity },
    { partner_order: { ...partnerOrder, state: 'completed' } },
  ),
  'partner-order-updated': type(
    'Partner order status has changed',
    { partner_order: PartnerOrderEntity },
    { partner_order: partnerOrder },
  ),
  'customer-state-changed': type('Customer state has changed', { customer: CustomerEntity }, { customer }),
  'customer-requirement-rejected': type(
    'Customer KYC requirement was rejected',
    { customer: CustomerEntity, requirement: RequirementEntity },
    {
      customer: { ...customer, state: 'pending' },
      requirement: { type: 'proof_of_address', reason: 'The document is older than three months.' },
    },
  ),
  'incoming-funds': type(
    'Funds have been received at a receiving address',
    { incoming_funds: IncomingFundsEntity },
    { incoming_funds: incomingFunds },
  ),
} as const satisfies Record<string, EventType>

export type Action = keyof typeof catalogue
export const actions = Object.keys(catalogue) as Action[]

// What an event of that type carries besides `id`, `action` and `created_at`.
export type Entities = Readonly<Record<string, unknown>>

const validators = new Map<string, Validator>(
  actions.map((action) => [
    action,
    bodyValidator(Type.Object(catalogue[action].entities, { additionalProperties: false })),
  ]),
)

export function checkEntities(action: Action, entities: Entities): void {
  validators.get(action)!(entities)
}

export function resourceIdOf(action: Action, entities: Entities): string {
  const main = entities[Object.keys(catalogue[action].entities)[0]!] as Record<string, string>
  return (action === 'incoming-funds' ? main.transaction_hash : main.id)!
}
