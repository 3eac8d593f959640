// What goes over the wire about orders: outgoing instructions, orders, settlement accounts and their statements.
import Type, { type Static } from 'typebox'
import { decimal } from '../partners/schema.ts'
import { entryKinds, operations, orderStates } from './states.ts'

const closed = { additionalProperties: false }
const time = (description: string) => Type.String({ format: 'date-time', description })
const timeOrNull = (description: string) =>
  Type.Union([Type.String({ format: 'date-time' }), Type.Null()], { description })
const signedDecimal = (description: string) =>
  Type.String({ pattern: '^-?(0|[1-9][0-9]*)(\\.[0-9]+)?$', description: `${description}, a decimal string.` })
const currency = Type.String({ minLength: 1, maxLength: 32, description: 'Currency or asset code.' })
const label = Type.String({ maxLength: 200, description: 'A note of your own.' })
const referenceId = Type.String({ minLength: 1, maxLength: 200, description: 'Your own reference, used only once.' })
export const amount = decimal('Amount, above zero and with no more decimals than the currency has')

export const NewInstruction = Type.Object(
  {
    type: Type.String({ maxLength: 50, description: 'One of `available_outgoing_fiat_instructions`.' }),
    currency,
    label: Type.Optional(label),
    fields: Type.Record(Type.String({ maxLength: 100 }), Type.String({ maxLength: 10_000 }), {
      maxProperties: 100,
      description: 'What `required_fields` of the type asks for.',
    }),
  },
  { ...closed, description: 'A destination to pay out to.' },
)
export type NewInstruction = Static<typeof NewInstruction>

export const Instruction = Type.Object(
  {
    id: Type.String({ description: 'Instruction identifier.' }),
    type: Type.String({ description: 'Instruction type.' }),
    currency,
    label,
    fields: Type.Record(Type.String(), Type.String(), { description: 'As they were sent.' }),
    fingerprint: Type.String({
      description: 'The same for every instruction of the same destination; an alias counts the same in any case.',
    }),
    created_at: time('When it was created.'),
  },
  { ...closed, description: 'A destination to pay out to.' },
)

const instructionOf = Type.Object(
  { instruction_id: Type.String({ maxLength: 100, description: 'Id of an outgoing instruction of yours.' }) },
  closed,
)

export const NewOrder = Type.Object(
  {
    operation: Type.Literal('withdrawal', { description: 'What to do.' }),
    reference_id: Type.Optional(Type.Union([referenceId, Type.Null()])),
    withdrawal: Type.Object(
      {
        currency,
        amount,
        type: Type.Literal('outgoing_instruction', { description: 'Kind of destination.' }),
        outgoing_instruction: instructionOf,
      },
      closed,
    ),
  },
  { ...closed, description: 'A withdrawal to create. Nothing moves before it is confirmed.' },
)
export type NewOrder = Static<typeof NewOrder>

const Withdrawal = Type.Object(
  {
    currency,
    amount: decimal('What the settlement account is debited'),
    destination_amount: decimal('What arrives: the amount less the fee'),
    fee_amount: decimal('What it costs'),
    type: Type.Literal('outgoing_instruction', { description: 'Kind of destination.' }),
    outgoing_instruction: instructionOf,
  },
  { ...closed, description: 'What a withdrawal pays, and to whom.' },
)

const orderFields = {
  id: Type.String({ description: 'Order identifier.' }),
  state: Type.Enum(orderStates, { description: 'Order state.' }),
  reference_id: Type.Union([Type.String(), Type.Null()], { description: 'Reference supplied by the partner.' }),
  operation: Type.Enum(operations, { description: 'What the order does.' }),
  created_at: time('When it was created.'),
  processed_at: timeOrNull('When its confirmation released it for processing; null before.'),
  last_updated_at: time('When it last changed.'),
  settlement: Type.Object(
    {
      currency,
      amount: decimal('What it moves'),
      operation: Type.Enum(['debit', 'credit'], { description: 'Out of the account, or into it.' }),
    },
    { ...closed, description: 'What it does to the settlement account.' },
  ),
  withdrawal: Type.Optional(Withdrawal),
  top_up: Type.Optional(
    Type.Object({ currency, amount: decimal('What arrived') }, { ...closed, description: 'Funds that arrived.' }),
  ),
  withdrawal_return: Type.Optional(
    Type.Object(
      {
        currency,
        amount: decimal('What came back'),
        order_id: Type.String({ description: 'The withdrawal that the bank returned.' }),
      },
      { ...closed, description: 'A payout that the bank returned after it was completed.' },
    ),
  ),
  state_reason: Type.Union([Type.String(), Type.Null()], {
    description:
      'Why it was cancelled: `cancelled_by_partner`, `cancelled_by_operator`, `expired`, `payout_failed`; else null.',
  }),
  expires_at: timeOrNull('Until when it can be confirmed.'),
  closed_at: timeOrNull('When it was completed or cancelled.'),
}

export const Order = Type.Object(orderFields, { ...closed, description: 'An order of the partner.' })
export type Order = Static<typeof Order>

export const OperatorOrder = Type.Object(
  {
    ...orderFields,
    partner_id: Type.String({ description: 'Whose order it is.' }),
    payout_id: Type.Union([Type.String(), Type.Null()], {
      description: 'To give to the bank, which pays one id only once. The same for as long as the order lives.',
    }),
    taken_at: timeOrNull('When it was last taken.'),
    taken_by: Type.Union([Type.String(), Type.Null()], { description: 'Who took it.' }),
    destination: Type.Union(
      [
        Type.Object(
          {
            type: Type.String({ description: 'Instruction type.' }),
            currency,
            fields: Type.Record(Type.String(), Type.String(), { description: 'As the partner wrote them.' }),
          },
          closed,
        ),
        Type.Null(),
      ],
      { description: 'Whom a withdrawal pays.' },
    ),
  },
  { ...closed, description: 'An order with what whoever pays it needs to know.' },
)

export const orderFilters = {
  state: Type.Optional(Type.Enum(orderStates, { description: 'Only those in this state.' })),
  operation: Type.Optional(Type.Enum(operations, { description: 'Only those that do this.' })),
  reference_id: Type.Optional(Type.String({ maxLength: 200, description: 'Only those with this reference.' })),
  currency: Type.Optional(Type.String({ maxLength: 32, description: 'Only those in this currency.' })),
  created_from: Type.Optional(time('Only those created at this time or later.')),
  created_to: Type.Optional(time('Only those created before this time.')),
}

export const NewTopUp = Type.Object(
  { currency, amount, reference_id: referenceId },
  { ...closed, description: 'Funds that arrived for a partner.' },
)

export const SettlementAccount = Type.Object(
  {
    currency,
    available: decimal('What can be spent'),
    held: decimal('What confirmed orders have set aside'),
    updated_at: time('When it last changed.'),
  },
  { ...closed, description: 'A balance of the partner.' },
)

export const StatementEntry = Type.Object(
  {
    entry: Type.Integer({ description: 'Counts up from 1 in each account, without gaps.' }),
    created_at: time('When it happened.'),
    kind: Type.Enum(entryKinds, { description: 'What happened.' }),
    order_id: Type.String({ description: 'The order that caused it.' }),
    available_change: signedDecimal('What it did to the available funds'),
    held_change: signedDecimal('What it did to the held funds'),
    available: decimal('Available funds afterwards'),
    held: decimal('Held funds afterwards'),
  },
  { ...closed, description: 'A line of a statement.' },
)
