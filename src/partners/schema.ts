// What goes over the wire about a partner: its account (GET /partner), the configuration behind it, its API keys.
import Type, { type Static } from 'typebox'

export const kycModes = ['no_kyc', 'partner_collect', 'service_collect'] as const
export const productCodes = ['crypto_buy_sell', 'crypto_receive', 'crypto_send', 'crypto_swap', 'investments'] as const
export const assetOperations = ['buy', 'receive', 'sell', 'send', 'transfer'] as const
export const scopes = [
  'partner:read',
  'webhooks:read',
  'webhooks:write',
  'orders:read',
  'orders:write',
  'orders:confirm',
  'keys:write',
] as const
export const algorithms = ['RS256', 'RS512', 'ES256', 'EdDSA'] as const
export const requirableClaims = ['exp', 'jti', 'htm', 'htu', 'bodyHash'] as const

const closed = { additionalProperties: false }
const text = (maxLength: number, description: string) => Type.String({ minLength: 1, maxLength, description })
export const decimal = (description: string) =>
  Type.String({
    pattern: '^(0|[1-9][0-9]*)(\\.[0-9]+)?$',
    maxLength: 80,
    description: `${description}, a decimal string.`,
  })
const currency = Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$', description: 'A currency or asset code.' })

export const Asset = Type.Object(
  {
    id: Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$', description: 'Asset code.' }),
    decimal_places: Type.Integer({ minimum: 0, maximum: 30, description: 'Number of decimal places.' }),
    allowed_operations: Type.Array(Type.Enum(assetOperations), {
      uniqueItems: true,
      description: 'What may be done with it.',
    }),
  },
  closed,
)

const limits = (what: string, cap: string) =>
  Type.Object({ min_amount: decimal(`Least ${what}`), max_amount: decimal(`Most ${what}${cap}`) }, closed)

export const Investment = Type.Object(
  {
    id: text(100, 'Investment identifier.'),
    quote_asset: Type.String({
      pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$',
      description: 'Asset the investment is quoted and settled in.',
    }),
    network: Type.String({
      pattern: '^[a-z0-9][a-z0-9._-]{0,63}$',
      description: 'Network of the investment asset, lower case.',
    }),
    provider_id: text(100, 'Investment provider.'),
    subscription: limits('amount of a subscription', ''),
    redemption: limits('amount of a redemption', '; `0` means no cap'),
    fee: Type.Object(
      { type: text(50, 'Kind of fee, for example `earnings_percentage`.'), value: decimal('Size of the fee') },
      closed,
    ),
    name: text(200, 'Display name.'),
    enabled: Type.Boolean({ description: 'Whether the investment is enabled.' }),
  },
  closed,
)

export const IncomingInstruction = Type.Object(
  {
    type: text(50, 'Instruction type, for example `ar_cvu` or `mx_clabe`.'),
    creation_fees: Type.Array(
      Type.Object(
        { type: text(50, 'Kind of fee, for example `fixed`.'), value: decimal('Size of the fee'), currency },
        closed,
      ),
      { maxItems: 100, description: 'What creating such an instruction costs.' },
    ),
  },
  closed,
)

export const RequiredField = Type.Object(
  {
    key: text(100, 'Name of the field.'),
    type: text(50, 'Type of the field, for example `string`.'),
    regex: Type.Optional(Type.String({ maxLength: 1_000, description: 'Pattern of the value, in RE2 syntax.' })),
    min_length: Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000, description: 'Least length of the value.' })),
    max_length: Type.Optional(Type.Integer({ minimum: 0, maximum: 10_000, description: 'Most length of the value.' })),
    optional: Type.Boolean({ description: 'Whether the field may be left out.' }),
  },
  closed,
)

export const OutgoingInstruction = Type.Object(
  {
    type: text(50, 'Instruction type, for example `ar_cbu`, `ar_alias` or `mx_clabe`.'),
    required_fields: Type.Array(RequiredField, { maxItems: 100, description: 'What a partner has to fill in.' }),
    currencies: Type.Array(currency, { maxItems: 200, description: 'Currencies supported by the instruction type.' }),
  },
  closed,
)

const accountFields = {
  name: text(200, 'Partner account name.'),
  logo_url: Type.String({ maxLength: 2_000, description: 'URL of the partner logo; empty when there is none.' }),
  kyc_mode: Type.Enum(kycModes, { description: 'Who collects KYC data.' }),
  available_assets: Type.Array(Asset, { maxItems: 1_000, description: 'Assets enabled for the partner.' }),
  available_investments: Type.Array(Investment, {
    maxItems: 1_000,
    description: 'Investment products enabled for the partner.',
  }),
  products: Type.Array(Type.Enum(productCodes), { uniqueItems: true, description: 'Enabled product codes.' }),
  available_incoming_fiat_instructions: Type.Optional(
    Type.Array(IncomingInstruction, {
      maxItems: 200,
      description: 'Incoming fiat instruction types; left out when there are none.',
    }),
  ),
  available_outgoing_fiat_instructions: Type.Optional(
    Type.Array(OutgoingInstruction, {
      maxItems: 200,
      description: 'Outgoing fiat instruction types; left out when there are none.',
    }),
  ),
  delegation_enabled: Type.Boolean({ description: 'Whether delegation is enabled for the partner.' }),
}

export const PartnerAccount = Type.Object(accountFields, {
  ...closed,
  description: 'A partner account, as its partner reads it.',
})
export type PartnerAccount = Static<typeof PartnerAccount>

export const PartnerConfiguration = Type.Object(
  {
    ...accountFields,
    withdrawal_fees: Type.Optional(
      Type.Array(
        Type.Object(
          {
            type: text(50, 'Outgoing instruction type the fee applies to.'),
            currency,
            fixed: decimal('Fixed part'),
            percentage: decimal('Part in percent of the amount'),
          },
          closed,
        ),
        { maxItems: 1_000, description: 'What a withdrawal costs; internal, not shown to the partner.' },
      ),
    ),
  },
  { ...closed, description: 'The whole configuration of a partner: its account and what is internal.' },
)
export type PartnerConfiguration = Static<typeof PartnerConfiguration>

const timeOrNull = (description: string) =>
  Type.Union([Type.String({ format: 'date-time' }), Type.Null()], { description })

export const NewApiKey = Type.Object(
  {
    name: text(100, 'What the key is for.'),
    scopes: Type.Array(Type.Enum(scopes), { minItems: 1, uniqueItems: true, description: 'What the key may do.' }),
    allowed_cidrs: Type.Optional(
      Type.Array(Type.String({ maxLength: 50 }), {
        maxItems: 100,
        description: 'Client addresses that may use the key; empty or left out: any.',
      }),
    ),
    expires_at: Type.Optional(
      Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
        description: 'When the key stops working; null or left out: never.',
      }),
    ),
    algorithm: Type.Optional(Type.Enum(algorithms, { description: 'For signed tokens: the one algorithm they use.' })),
    public_key: Type.Optional(
      Type.String({
        maxLength: 5_000,
        description: 'For signed tokens: the public key, SPKI in PEM. Left out: a secret key is made.',
      }),
    ),
    required_claims: Type.Optional(
      Type.Array(Type.Enum(requirableClaims), {
        uniqueItems: true,
        description: 'For signed tokens: claims that every token must carry (they are always checked when present).',
      }),
    ),
  },
  closed,
)
export type NewApiKey = Static<typeof NewApiKey>

const apiKeyFields = {
  id: Type.String({ description: 'Key id; the `iss` of signed tokens.' }),
  name: Type.String({ description: 'What the key is for.' }),
  kind: Type.Enum(['secret', 'signed_token'], { description: 'Whether callers send a secret or tokens they sign.' }),
  prefix: Type.Union([Type.String(), Type.Null()], { description: 'The public beginning of a secret key.' }),
  algorithm: Type.Union([Type.Enum(algorithms), Type.Null()], { description: 'The algorithm of signed tokens.' }),
  scopes: Type.Array(Type.Enum(scopes), { description: 'What the key may do.' }),
  required_claims: Type.Array(Type.String(), { description: 'Claims that every signed token must carry.' }),
  allowed_cidrs: Type.Array(Type.String(), { description: 'Client addresses that may use the key; empty: any.' }),
  expires_at: timeOrNull('When the key stops working.'),
  last_used_at: timeOrNull('When the key was last used, give or take ten seconds.'),
  revoked_at: timeOrNull('When the key was revoked.'),
  created_at: Type.String({ format: 'date-time', description: 'When the key was made.' }),
  created_by: Type.String({ description: 'Who made the key.' }),
}

export const ApiKey = Type.Object(apiKeyFields, { ...closed, description: 'An API key, without its secret.' })
export const CreatedApiKey = Type.Object(
  {
    ...apiKeyFields,
    secret: Type.Optional(Type.String({ description: 'The secret, shown this once; absent for signed tokens.' })),
  },
  { ...closed, description: 'A new API key.' },
)
export type ApiKey = Static<typeof ApiKey>
