// What goes over the wire about console sessions, sign-in links and the log of requests.
import Type from 'typebox'
import { scopes } from './schema.ts'

const closed = { additionalProperties: false }
const time = (description: string) => Type.String({ format: 'date-time', description })
const textOrNull = (description: string) => Type.Union([Type.String(), Type.Null()], { description })

export const SignIn = Type.Union([
  Type.Object({ secret: Type.String({ maxLength: 200, description: 'A secret key, `psk_…`.' }) }, closed),
  Type.Object({ link: Type.String({ maxLength: 200, description: 'The token of a sign-in link.' }) }, closed),
])

export const Session = Type.Object(
  {
    partner_id: Type.String({ description: 'Whose session it is.' }),
    partner_name: Type.Optional(
      Type.String({ description: 'Name of the account; left out when the key lacks `partner:read`.' }),
    ),
    key_id: Type.String({ description: 'The API key that the session belongs to.' }),
    key_name: Type.String({ description: 'Its name.' }),
    scopes: Type.Array(Type.Enum(scopes), { description: 'What the key, and so the session, may do.' }),
    expires_at: time('When the session ends by itself.'),
    mode: Type.Enum(['sandbox', 'production'], { description: 'What kind of installation this is.' }),
  },
  { ...closed, description: 'A console session. It can do what its key can, and dies with it.' },
)

export const SignInLink = Type.Object(
  {
    url: Type.String({ description: 'Open it in a browser: it signs in, once. The token stands behind the `#`.' }),
    expires_at: time('From when on it is useless.'),
  },
  { ...closed, description: 'A sign-in link.' },
)

export const LoggedRequest = Type.Object(
  {
    request_id: Type.String({ description: 'The `X-Request-Id` of the reply.' }),
    at: time('When it came in.'),
    method: Type.String({ description: 'HTTP method.' }),
    route: Type.String({ description: 'The address it was for, with names for its parts.' }),
    path: Type.String({ description: 'The address as it was asked for, without its query.' }),
    status: Type.Integer({ description: 'Status of the reply.' }),
    error_code: textOrNull('The code of the error, if it was one.'),
    error_msg: textOrNull('Its sentence.'),
    duration_ms: Type.Integer({ description: 'How long the answer took.' }),
    key_id: Type.String({ description: 'The API key that called.' }),
    address: Type.String({ description: 'The address it was called from.' }),
  },
  { ...closed, description: 'A request that was made.' },
)
