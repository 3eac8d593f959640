// What goes over the wire on the operator listener, beyond what the rooms define themselves.
import Type from 'typebox'
import { PartnerConfiguration } from '../partners/schema.ts'

export const roles = ['read', 'support', 'payouts', 'admin'] as const

const closed = { additionalProperties: false }
const time = (description: string) => Type.String({ format: 'date-time', description })
const timeOrNull = (description: string) =>
  Type.Union([Type.String({ format: 'date-time' }), Type.Null()], { description })
const nullableText = (description: string) => Type.Union([Type.String(), Type.Null()], { description })

export const Partner = Type.Object(
  {
    id: Type.String({ description: 'Partner id.' }),
    name: Type.String({ description: 'Name in the current configuration.' }),
    state: Type.Enum(['active', 'suspended'], { description: 'Calls of a suspended partner are refused.' }),
    configuration_version: Type.Integer({ description: 'Version of the current configuration.' }),
    created_at: time('When the partner was created.'),
  },
  { ...closed, description: 'A partner.' },
)

export const NewPartner = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 200, description: 'Partner account name.' }),
    configuration: Type.Optional(PartnerConfiguration),
  },
  closed,
)

export const PartnerChange = Type.Object(
  { state: Type.Enum(['active', 'suspended'], { description: 'The new state.' }) },
  closed,
)

export const ConfigurationVersion = Type.Object(
  {
    version: Type.Integer({ description: 'Counts up from 1.' }),
    created_at: time('When this version was written.'),
    created_by: Type.String({ description: 'Who wrote it.' }),
    configuration: PartnerConfiguration,
  },
  { ...closed, description: 'A configuration as it was written.' },
)

export const NewOperatorToken = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 100, description: 'Whom the token is for; the audit log shows it.' }),
    roles: Type.Array(Type.Enum(roles), { minItems: 1, uniqueItems: true, description: 'What the token may do.' }),
  },
  closed,
)

const tokenFields = {
  id: Type.String({ description: 'Token id.' }),
  name: Type.String({ description: 'Whom the token is for.' }),
  roles: Type.Array(Type.Enum(roles), { description: 'What the token may do.' }),
  created_at: time('When the token was made.'),
  created_by: Type.String({ description: 'Who made it.' }),
  revoked_at: timeOrNull('When it was revoked.'),
}
export const OperatorToken = Type.Object(tokenFields, {
  ...closed,
  description: 'An operator token, without its secret.',
})
export const CreatedOperatorToken = Type.Object(
  { ...tokenFields, secret: Type.String({ description: 'The token itself, shown this once.' }) },
  { ...closed, description: 'A new operator token.' },
)

export const OperatorSession = Type.Object(
  {
    name: Type.String({ description: 'Whom the token is for.' }),
    roles: Type.Array(Type.Enum(roles), { description: 'What the token, and so the session, may do.' }),
    expires_at: time('When the session ends by itself.'),
    mode: Type.Enum(['sandbox', 'production'], { description: 'What kind of installation this is.' }),
  },
  { ...closed, description: 'A console session. It can do what its token can, and dies with it.' },
)

export const AuditEntry = Type.Object(
  {
    id: Type.String({ description: 'Entry id.' }),
    at: time('When it was done.'),
    actor: Type.Object(
      {
        kind: Type.Enum(['operator', 'key', 'system'], {
          description: 'An operator token, a partner’s API key, or the service itself.',
        }),
        id: Type.String({ description: 'Id of the token or key.' }),
        name: Type.String({ description: 'Its name at that time.' }),
      },
      { ...closed, description: 'Who did it.' },
    ),
    action: Type.String({ description: 'What was done.' }),
    partner_id: nullableText('The partner it concerned.'),
    target_id: nullableText('What it was done to.'),
    details: Type.Record(Type.String(), Type.Unknown(), { description: 'More about it; never a secret.' }),
    request_id: nullableText('The request that did it.'),
  },
  { ...closed, description: 'One entry of the audit log.' },
)
