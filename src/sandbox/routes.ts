// Routes that exist only in sandbox mode: what the platform would do, for a partner that tries things out.
import Type from 'typebox'
import { rawBody } from '../http/json-body.ts'
import { memberTexts } from '../http/json-text.ts'
import { type Route, route } from '../http/route.ts'
import { newId } from '../ids.ts'
import type { PartnerCaller } from '../partners/gate.ts'
import { actions, catalogue, checkEntities } from '../webhooks/catalogue.ts'
import type { Publisher } from '../webhooks/publisher.ts'
import { textOf } from '../webhooks/publishing.ts'

const entities = Object.fromEntries(
  [...new Set(actions.flatMap((action) => Object.keys(catalogue[action].entities)))].map((name) => [
    name,
    Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), { description: `The \`${name}\`; left out, an example is taken.` }),
    ),
  ]),
)

export function sandboxRoutes(publisher: Publisher): Route<PartnerCaller>[] {
  return [
    route<PartnerCaller>()({
      method: 'POST',
      path: '/sandbox/events',
      id: 'emitSandboxEvent',
      tag: 'Sandbox',
      summary: 'Make an event happen',
      description:
        'As if the platform had published it: every subscription of yours to this type gets it. Without an entity an example is sent.',
      access: 'webhooks:write',
      body: Type.Object(
        { action: Type.Enum(actions, { description: 'Event type.' }), ...entities },
        { additionalProperties: false },
      ),
      replies: {
        201: {
          description: 'Published.',
          schema: Type.Object({
            publication_id: Type.String({ description: 'Common to the events made of it.' }),
            event_ids: Type.Array(Type.String(), { description: 'One for each matching subscription.' }),
          }),
        },
      },
      async handle({ caller, body, request }) {
        const { action, ...given } = body
        const carried = { ...catalogue[action].example, ...given }
        checkEntities(action, carried)
        const { publication_id, event_ids } = await publisher.publish({
          partnerId: caller.partnerId,
          id: newId('pub'),
          action,
          entities: carried,
          text: textOf(carried, memberTexts(rawBody(request))),
        })
        return { status: 201, body: { publication_id, event_ids } }
      },
    }),
  ]
}
