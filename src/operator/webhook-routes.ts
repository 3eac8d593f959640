// The operator's routes about webhooks: publishing for the platform's core, and the signing keys.
import Type from 'typebox'
import type { MasterKey } from '../config-parsers.ts'
import type { Context } from '../context.ts'
import { fail } from '../errors.ts'
import { rawBody } from '../http/json-body.ts'
import { itemTexts, memberTexts } from '../http/json-text.ts'
import { type Route, route } from '../http/route.ts'
import { listSigningKeys, reencryptSigningKeys, rotateSigningKey, type SigningKeyRow } from '../signing/keys.ts'
import { utcSeconds, utcSecondsOrNull } from '../times.ts'
import { type Action, actions, catalogue, checkEntities, type Entities } from '../webhooks/catalogue.ts'
import type { Publisher, Submission } from '../webhooks/publisher.ts'
import { textOf } from '../webhooks/publishing.ts'
import type { Changes } from './changes.ts'
import { type Operator, operatorActor } from './gate.ts'

const operatorRoute = route<Operator>()
const batchLimitBytes = 16 * 1024 * 1024
const entityLimitBytes = 256 * 1024

const entityNames = [...new Set(actions.flatMap((action) => Object.keys(catalogue[action].entities)))]

export const PublishedEvent = Type.Object(
  {
    partner_id: Type.String({ maxLength: 100, description: 'The partner to tell.' }),
    id: Type.String({
      pattern: '^[\\x21-\\x7e]{1,200}$',
      description: 'Your own id of this event, unique for the partner.',
    }),
    action: Type.Enum(actions, { description: 'Event type.' }),
    ...Object.fromEntries(
      entityNames.map((name) => [
        name,
        Type.Optional(
          Type.Record(Type.String(), Type.Unknown(), { description: `The \`${name}\` of types that carry one.` }),
        ),
      ]),
    ),
  },
  { additionalProperties: false, description: 'An event to publish, with the entity that its type carries.' },
)
const Batch = Type.Object(
  { events: Type.Array(PublishedEvent, { minItems: 1, maxItems: 1_000, description: 'All are published, or none.' }) },
  { additionalProperties: false, description: 'Several events to publish at once.' },
)
export const Publication = Type.Object(
  {
    id: Type.String({ description: 'Your own id of the event.' }),
    publication_id: Type.String({ description: 'Common to the events made of it.' }),
    event_ids: Type.Array(Type.String(), { description: 'One for each matching subscription; may be none.' }),
  },
  { additionalProperties: false, description: 'A publication that is durable.' },
)
export const SigningKey = Type.Object(
  {
    id: Type.String({ description: 'The `kid`.' }),
    algorithm: Type.String({ description: 'What it signs with.' }),
    signs_from: Type.String({ format: 'date-time', description: 'From when on it signs.' }),
    published_until: Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
      description: 'When it leaves the JWKS.',
    }),
    created_at: Type.String({ format: 'date-time', description: 'When it was made.' }),
    created_by: Type.String({ description: 'Who made it.' }),
  },
  { additionalProperties: false, description: 'A signing key, without its private half.' },
)

export function webhookAdministration(
  ctx: Context,
  changes: Changes,
  publisher: Publisher,
  masterKeys: readonly MasterKey[],
): Route<Operator>[] {
  return [
    operatorRoute({
      method: 'POST',
      path: '/events',
      id: 'publishEvents',
      tag: 'Events',
      summary: 'Publish one event or a batch',
      description:
        'One event for each matching subscription is created and will be delivered. Answered only once durable. The same `id` again is answered as before, with other content it is 409; so a retry after 503 or a lost answer is safe.',
      access: 'admin',
      bodyLimitBytes: batchLimitBytes,
      body: Type.Union([PublishedEvent, Batch]),
      replies: {
        201: {
          description: 'Durable. In the form it was asked for.',
          schema: Type.Union([Publication, Type.Object({ events: Type.Array(Publication) })]),
        },
      },
      errors: ['not_found', 'conflict'],
      async handle({ body, request }) {
        const given = body as Record<string, unknown>
        const written = memberTexts(rawBody(request))
        if (Array.isArray(given.events)) {
          const texts = itemTexts(written.get('events')!)
          const submissions = given.events.map((each, i) => toSubmission(each, memberTexts(texts[i]!), `events[${i}].`))
          return { status: 201, body: { events: await publisher.publishAll(submissions) } }
        }
        return { status: 201, body: await publisher.publish(toSubmission(given, written, '')) }
      },
    }),
    operatorRoute({
      method: 'GET',
      path: '/signing-keys',
      id: 'listSigningKeys',
      tag: 'Signing keys',
      summary: 'List the signing keys that are published',
      access: 'read',
      replies: {
        200: {
          description: 'The one that signs last first.',
          schema: Type.Object({ signing_keys: Type.Array(SigningKey) }),
        },
      },
      handle: async () => ({
        status: 200,
        body: { signing_keys: (await listSigningKeys(ctx.db)).map(signingKeyView) },
      }),
    }),
    operatorRoute({
      method: 'POST',
      path: '/signing-keys/rotate',
      id: 'rotateSigningKey',
      tag: 'Signing keys',
      summary: 'Rotate the signing key',
      description:
        'The new key is published at once and signs after a day; the old one stays published for a day more. With `{"now": true}`, for a compromise, the new key signs at once and the old ones are withdrawn.',
      access: 'admin',
      body: Type.Object(
        { now: Type.Boolean({ description: 'Replace the key immediately.' }) },
        { additionalProperties: false },
      ),
      replies: { 201: { description: 'The new key.', schema: SigningKey } },
      handle: ({ caller, body, request }) =>
        changes.in(async (tx) => {
          const rotation = { algorithm: ctx.config.signingAlgorithm, masterKey: masterKeys[0]!, now: body.now }
          return {
            status: 201,
            body: signingKeyView(await rotateSigningKey(tx, operatorActor(caller, request), rotation)),
          }
        }),
    }),
    operatorRoute({
      method: 'POST',
      path: '/signing-keys/reencrypt',
      id: 'reencryptSigningKeys',
      tag: 'Signing keys',
      summary: 'Encrypt the signing keys with the current master key',
      description: 'After `MASTER_KEY` got a new first version: once done, the old version can be removed from it.',
      access: 'admin',
      replies: {
        200: {
          description: 'How many keys were encrypted anew.',
          schema: Type.Object({ reencrypted: Type.Integer({ description: 'Keys that had an older version.' }) }),
        },
      },
      handle: ({ caller, request }) =>
        changes.in(async (tx) => ({
          status: 200,
          body: { reencrypted: await reencryptSigningKeys(tx, operatorActor(caller, request), masterKeys) },
        })),
    }),
  ]
}

function toSubmission(given: Record<string, unknown>, written: ReadonlyMap<string, Buffer>, place: string): Submission {
  const { partner_id, id, action, ...entities } = given
  try {
    checkEntities(action as Action, entities as Entities)
  } catch (error) {
    ;(error as Error).message = place + (error as Error).message
    throw error
  }
  const text = textOf(entities, written)
  if (text.length > entityLimitBytes) throw fail('payload_too_large', `${place}${action} carries more than 256 KiB.`)
  return { partnerId: partner_id as string, id: id as string, action: action as Action, entities, text }
}

function signingKeyView(row: SigningKeyRow) {
  return {
    id: row.id,
    algorithm: row.algorithm,
    signs_from: utcSeconds(row.signsFrom),
    published_until: utcSecondsOrNull(row.publishedUntil),
    created_at: utcSeconds(row.createdAt),
    created_by: row.createdBy,
  }
}
