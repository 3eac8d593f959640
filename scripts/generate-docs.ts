// The pages that are made from the code: every setting, every error code. What the code cannot know, what to do about an error,
// is written here, and the compiler asks for it when a code is added.
import { describeSettings } from '../src/config.ts'
import { type ErrorCode, errorTable } from '../src/errors.ts'
import { actions, catalogue } from '../src/webhooks/catalogue.ts'

export const generated = '<!-- Made by `npm run generate`; edit the source it names instead. -->'

const remedies: Record<ErrorCode, string> = {
  body_parse_error: 'Send valid JSON in UTF-8, nested at most 32 levels deep.',
  invalid_parameters:
    'Correct the field that `error_msg` names. Repeating the request unchanged gives the same answer.',
  invalid_event_state: 'Wait until the event is `completed` or `error`, then resend it.',
  invalid_order_state:
    'Read the order. If it was confirmed already, there is nothing left to do; if it expired, create another.',
  insufficient_funds:
    'Nothing has changed: add funds to the settlement account and confirm again, before `expires_at`, or ask for less.',
  invalid_destination:
    'Use an outgoing instruction of yours that is for this currency and was not deleted, or create one.',
  auth_required:
    'Send `Authorization: Bearer …` with a key that is neither revoked nor expired. For a signed token check its `iss`, its age (at most 15 minutes) and your clock, and use each `jti` once.',
  forbidden:
    'Use a key with the scope or role that `error_msg` names, from an address the key allows. A suspended partner asks its operator.',
  not_found: 'Check the address and the id. What belongs to another partner looks exactly like what does not exist.',
  method_not_allowed: 'Use one of the methods in the `Allow` header.',
  conflict:
    'Read `error_msg`: use a new `Idempotency-Key` for a new request, or read the resource again and repeat your change on top of it.',
  payload_too_large: 'Send less at once; a body may have 1 MiB.',
  unsupported_media_type: 'Send `Content-Type: application/json`.',
  too_many_requests:
    'Wait as many seconds as `Retry-After` says. The `RateLimit` header tells beforehand how much is left.',
  internal_error: 'Try again later. If it stays, report it with the `X-Request-Id` of the reply.',
  service_unavailable:
    'Wait as many seconds as `Retry-After` says, then repeat the request, with the same `Idempotency-Key` if it had one.',
}

export function errorsPage(): string {
  const rows = (Object.keys(errorTable) as ErrorCode[]).map((code) => {
    const { status, sentence } = errorTable[code]
    return `| \`${code}\` | ${status} | ${sentence} | ${remedies[code]} |`
  })
  return `${generated}
# Errors

Every error has the same body, on every address, and nothing else in it:

\`\`\`json
{ "error_code": "invalid_parameters", "error_msg": "scopes is required." }
\`\`\`

Decide by \`error_code\`; it never changes its meaning. \`error_msg\` is a sentence for people and may be reworded. The sentence in the
table is used when there is nothing more precise to say.

| Code | Status | Sentence | What to do |
| --- | --- | --- | --- |
${rows.join('\n')}

The source of this table is \`src/errors.ts\`.
`
}

export function configurationPage(): string {
  const rows = describeSettings().map(({ name, default: fallback, meaning, secret }) => {
    const shown = fallback === '' ? 'not set' : `\`${fallback}\``
    return `| \`${name}\` | ${shown} | ${meaning}${secret ? ' **Secret:** never printed or logged.' : ''} |`
  })
  return `${generated}
# Configuration

Settings are read from the environment, and behind it from a file \`.env\` in the working folder. None is needed to try the service.
All mistakes are reported at once, at the start, and the service does not start with any.

| Name | Default | Meaning |
| --- | --- | --- |
${rows.join('\n')}

The commands that operate a running service also read \`OPERATOR_URL\`, where its operator listener answers (default:
\`http://127.0.0.1:OPERATOR_PORT\`).

The source of this table is \`src/settings.ts\`.
`
}

export function eventsPage(): string {
  const sections = actions.map((action) => {
    const { meaning, entities, example } = catalogue[action]
    const required = Object.entries(entities).map(
      ([name, schema]) =>
        `\`${name}\` with ${Object.keys((schema as { properties: object }).properties)
          .map((member) => `\`${member}\``)
          .join(', ')}`,
    )
    const body = {
      id: 'evt_01m7f0b9qn8y4t0cf4e6d5yeth',
      action,
      created_at: '2026-01-05T12:00:00.123456+00:00',
      ...example,
    }
    return `## ${action}\n\n${meaning}. It carries ${required.join(' and ')}; further members may come with them.\n\n\`\`\`json\n${JSON.stringify(body, null, 2)}\n\`\`\`\n`
  })
  return `${generated}
# Event types

Every event has \`id\`, \`action\` (its type), \`created_at\`, and what it is about. [Webhooks](webhooks.md) tells how they are delivered.

${sections.join('\n')}`
}
