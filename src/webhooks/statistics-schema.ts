// What goes over the wire about how deliveries fare.
import Type from 'typebox'

const closed = { additionalProperties: false }
const time = (description: string) => Type.String({ format: 'date-time', description })
const timeOrNull = (description: string) =>
  Type.Union([Type.String({ format: 'date-time' }), Type.Null()], { description })
const count = (description: string) => Type.Integer({ minimum: 0, description })

const milliseconds = (share: string) =>
  Type.Integer({ minimum: 0, description: `${share} of the attempts took no longer.` })

export const latency = Type.Union(
  [
    Type.Object({ p50: milliseconds('Half'), p90: milliseconds('90 %'), p99: milliseconds('99 %') }, closed),
    Type.Null(),
  ],
  { description: 'How long attempts took, in ms, right to within a quarter; null without attempts.' },
)

export const counts = {
  attempts: count('Delivery attempts in the window.'),
  delivered: count('Those that were answered with a 2xx status in time.'),
  failed: count('All others.'),
  latency_ms: latency,
}

export const endpointHealth = {
  state: Type.Enum(['enabled', 'disabled'], { description: 'Whether anything is sent.' }),
  health: Type.Enum(['ok', 'failing', 'paused', 'disabled', 'idle'], {
    description:
      '`failing`: the last attempt failed; `paused`: so many did that it is spared for a while; `idle`: nothing was sent in the window and nothing waits.',
  }),
  failing_since: timeOrNull('Since when every attempt has failed.'),
  paused_until: timeOrNull('When the next try is made.'),
  pending: count('Events that wait for delivery, counted up to 10,000 a queue.'),
}

export const DeliveryStatistics = Type.Object(
  {
    window: Type.Enum(['1h', '24h', '7d'], { description: 'How far it looks back.' }),
    from: time('Start of the window.'),
    to: time('Its end: now.'),
    bucket_seconds: Type.Integer({ description: 'How much time a bucket covers.' }),
    buckets: Type.Array(
      Type.Object(
        { at: time('Start of the bucket.'), delivered: counts.delivered, failed: counts.failed },
        { ...closed, description: 'What happened in that time.' },
      ),
      { description: 'Oldest first, without gaps; the last one is under way.' },
    ),
    ...counts,
    success_rate: Type.Union([Type.Number({ minimum: 0, maximum: 1 }), Type.Null()], {
      description: 'Share of attempts that were delivered; null without attempts.',
    }),
    pending: endpointHealth.pending,
    oldest_undelivered_at: timeOrNull('When the oldest event that waits was created.'),
    subscriptions: Type.Array(
      Type.Object(
        {
          id: Type.String({ description: 'The subscription.' }),
          url: Type.String({ description: 'Where its events are sent.' }),
          description: Type.String({ description: 'Your note.' }),
          ...endpointHealth,
          ...counts,
          last_error: Type.Union(
            [
              Type.Object(
                {
                  at: time('When the attempt began.'),
                  event_id: Type.String({ description: 'The event that was sent.' }),
                  status: Type.Union([Type.Integer(), Type.Null()], { description: 'Status of the answer.' }),
                  error_kind: Type.Union([Type.String(), Type.Null()], {
                    description: 'What went wrong without an answer.',
                  }),
                },
                closed,
              ),
              Type.Null(),
            ],
            { description: 'The latest attempt that failed, however long ago.' },
          ),
        },
        { ...closed, description: 'How an endpoint fares.' },
      ),
      { description: 'Every subscription, newest first.' },
    ),
  },
  { ...closed, description: 'How deliveries fare.' },
)
