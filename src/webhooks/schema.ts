// What goes over the wire about webhooks: subscriptions, events and their attempts.
import Type, { type Static } from 'typebox'
import { actions } from './catalogue.ts'

const closed = { additionalProperties: false }
const url = Type.String({ minLength: 1, maxLength: 2_000, description: 'HTTPS URL where events are sent.' })
const events = Type.Array(Type.Enum(actions), {
  minItems: 1,
  uniqueItems: true,
  description: 'Event types to subscribe to.',
})
const description = Type.String({ maxLength: 500, description: 'A note of your own.' })
const rateLimit = Type.Union([Type.Integer({ minimum: 1, maximum: 1_000 }), Type.Null()], {
  description: 'Most deliveries a second to this endpoint; null: no limit.',
})

export const NewSubscription = Type.Object(
  { url, events, description: Type.Optional(description), rate_limit_per_second: Type.Optional(rateLimit) },
  { ...closed, description: 'A subscription to create.' },
)
export type NewSubscription = Static<typeof NewSubscription>

export const NewSubscriptions = Type.Object(
  {
    subscriptions: Type.Array(NewSubscription, {
      minItems: 1,
      maxItems: 100,
      description: 'All are created, or none.',
    }),
  },
  { ...closed, description: 'Several subscriptions to create at once.' },
)
export type NewSubscriptions = Static<typeof NewSubscriptions>

export const SubscriptionChange = Type.Object(
  {
    url: Type.Optional(url),
    events: Type.Optional(events),
    description: Type.Optional(description),
    rate_limit_per_second: Type.Optional(rateLimit),
    state: Type.Optional(Type.Enum(['enabled', 'disabled'], { description: 'Enable or disable the subscription.' })),
  },
  { ...closed, minProperties: 1, description: 'What to change; the rest stays.' },
)
export type SubscriptionChange = Static<typeof SubscriptionChange>

export const Subscription = Type.Object(
  {
    id: Type.String({ description: 'Subscription identifier.' }),
    url,
    events: Type.Array(Type.Enum(actions), { description: 'Subscribed event types.' }),
    created_at: Type.String({ format: 'date-time', description: 'When it was created.' }),
    state: Type.Enum(['enabled', 'disabled'], {
      description: 'Events of a disabled subscription are kept and can be resent.',
    }),
    disabled_reason: Type.Union([Type.String(), Type.Null()], { description: 'Why it is disabled.' }),
    description,
    rate_limit_per_second: rateLimit,
  },
  { ...closed, description: 'A webhook subscription.' },
)

export const Subscriptions = Type.Object(
  { subscriptions: Type.Array(Subscription) },
  { ...closed, description: 'The new subscriptions.' },
)

export const eventStates = ['pending', 'completed', 'error'] as const
const time = (meaning: string) => Type.String({ format: 'date-time', description: meaning })
const timeOrNull = (meaning: string) =>
  Type.Union([Type.String({ format: 'date-time' }), Type.Null()], { description: meaning })
const textOrNull = (meaning: string) => Type.Union([Type.String(), Type.Null()], { description: meaning })

export const ResentEvent = Type.Object(
  {
    id: Type.String({ description: 'Unique event identifier.' }),
    created_at: time('When the event was originally created.'),
    delivery_url: Type.String({ description: 'Subscription URL the event is delivered to.' }),
    delivery_tries: Type.Integer({ description: 'Number of delivery attempts made before this resend.' }),
  },
  { ...closed, description: 'An event that was queued for redelivery.' },
)

const eventFields = {
  id: Type.String({ description: 'Unique event identifier.' }),
  publication_id: Type.String({ description: 'Common to all events of one publication.' }),
  action: Type.String({ description: 'Event type.' }),
  state: Type.Enum(eventStates, { description: 'How its delivery stands.' }),
  created_at: time('When it was created.'),
  delivery_url: Type.String({ description: 'Current URL of its subscription.' }),
  delivery_tries: Type.Integer({ description: 'Delivery attempts made so far.' }),
  delivered_at: timeOrNull('The first successful delivery.'),
  last_attempt_at: timeOrNull('The latest attempt.'),
  next_attempt_at: timeOrNull('The next attempt, while pending.'),
  last_response_status: Type.Union([Type.Integer(), Type.Null()], {
    description: 'Status the endpoint last answered with.',
  }),
  error_reason: textOrNull('Why it is in `error`, or why the last attempt failed.'),
  subscription_id: Type.String({ description: 'Its subscription.' }),
  resource_id: Type.String({ description: 'Id of what it is about.' }),
}
export const WebhookEvent = Type.Object(eventFields, { ...closed, description: 'An event as search shows it.' })

export const Attempt = Type.Object(
  {
    number: Type.Integer({ description: 'Counts up from 1.' }),
    at: time('When it began.'),
    url: Type.String({ description: 'Where it was sent.' }),
    status: Type.Union([Type.Integer(), Type.Null()], { description: 'Status of the answer.' }),
    error_kind: textOrNull(
      'What went wrong without an answer: dns, connect, tls, timeout, reset, blocked_address, protocol.',
    ),
    error_detail: textOrNull('More about that.'),
    duration_ms: Type.Integer({ description: 'How long it took.' }),
    response_body: textOrNull('The first 16 KiB of the answer.'),
  },
  { ...closed, description: 'One delivery attempt.' },
)

export const WebhookEventDetails = Type.Object(
  {
    ...eventFields,
    payload: Type.Record(Type.String(), Type.Unknown(), { description: 'The body that is sent.' }),
    attempts: Type.Array(Attempt, { description: 'Every attempt, oldest first.' }),
  },
  { ...closed, description: 'An event with its payload and attempts.' },
)

export const TestResult = Type.Object(
  {
    event: Type.Record(Type.String(), Type.Unknown(), { description: 'What was sent.' }),
    headers: Type.Record(Type.String(), Type.String(), {
      description: 'The headers it was sent with, the signature among them.',
    }),
    delivered: Type.Boolean({ description: 'Whether the endpoint answered with a 2xx status in time.' }),
    status: Type.Union([Type.Integer(), Type.Null()], { description: 'Status of the answer.' }),
    error_kind: textOrNull('What went wrong without an answer.'),
    error_detail: textOrNull('More about that.'),
    duration_ms: Type.Integer({ description: 'How long it took.' }),
    response_body: textOrNull('The first 16 KiB of the answer.'),
  },
  { ...closed, description: 'What the endpoint answered.' },
)

export const eventFilters = {
  state: Type.Optional(Type.Enum(eventStates, { description: 'Only events in this state.' })),
  action: Type.Optional(Type.Enum(actions, { description: 'Only events of this type.' })),
  subscription_id: Type.Optional(Type.String({ maxLength: 100, description: 'Only events of this subscription.' })),
  resource_id: Type.Optional(Type.String({ maxLength: 500, description: 'Only events about this resource.' })),
  created_from: Type.Optional(Type.String({ format: 'date-time', description: 'Created at or after this time.' })),
  created_to: Type.Optional(Type.String({ format: 'date-time', description: 'Created before this time.' })),
}
export const EventFilters = Type.Object(eventFilters, closed)
export type EventFilters = Static<typeof EventFilters>

export const BulkResend = Type.Object(
  {
    id: Type.String({ description: 'Id of this bulk resend.' }),
    state: Type.Enum(['running', 'completed'], { description: 'Whether it is still at work.' }),
    filters: Type.Record(Type.String(), Type.Unknown(), { description: 'Which events it takes.' }),
    resent: Type.Integer({ description: 'Events queued again so far.' }),
    skipped: Type.Integer({ description: 'Events that were pending already, or whose subscription cannot receive.' }),
    created_at: time('When it was asked for.'),
    finished_at: timeOrNull('When it was done.'),
  },
  { ...closed, description: 'A bulk resend and how far it is.' },
)
