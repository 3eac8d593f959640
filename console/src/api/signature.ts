// Checks an X-JWT-SIGNATURE as a receiver has to: by the published keys, with WebCrypto, against the exact bytes of the payload.
// The token itself is never sent anywhere.

export interface Decoded {
  readonly header: { alg?: string; kid?: string; typ?: string }
  readonly claims: Record<string, unknown>
}
export interface Check {
  readonly what: string
  readonly ok: boolean
  readonly detail: string
}

interface Jwk extends JsonWebKey {
  kid?: string
  alg?: string
}

const algorithms: Record<
  string,
  { import: EcKeyImportParams | RsaHashedImportParams | Algorithm; verify: AlgorithmIdentifier | EcdsaParams }
> = {
  ES256: { import: { name: 'ECDSA', namedCurve: 'P-256' }, verify: { name: 'ECDSA', hash: 'SHA-256' } },
  RS512: { import: { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-512' }, verify: { name: 'RSASSA-PKCS1-v1_5' } },
  EdDSA: { import: { name: 'Ed25519' }, verify: { name: 'Ed25519' } },
}

export async function publishedKeys(): Promise<Jwk[]> {
  const response = await fetch('/.well-known/jwks.json')
  if (!response.ok) throw new Error(`the keys could not be read: status ${response.status}`)
  return ((await response.json()) as { keys: Jwk[] }).keys
}

export function decode(token: string): Decoded {
  const parts = token.trim().split('.')
  if (parts.length !== 3) throw new Error('A JWT has three parts with dots between them.')
  try {
    return { header: parsePart(parts[0]!), claims: parsePart(parts[1]!) }
  } catch {
    throw new Error('This is not a JWT: its parts are not JSON in base64url.')
  }
}

export async function digestOf(text: string): Promise<string> {
  const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))
  return [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}

export async function verify(
  token: string,
  expected: { eventId: string; subscriptionId: string; payload: string },
): Promise<Check[]> {
  const { header, claims } = decode(token)
  const keys = await publishedKeys()
  const key = keys.find((each) => each.kid === header.kid)
  const signed = key !== undefined && (await signatureHolds(token.trim(), header.alg ?? '', key))
  const digest = await digestOf(expected.payload)
  const issued = typeof claims.iat === 'number' ? new Date(claims.iat * 1_000).toISOString() : 'nothing'
  const checks: Check[] = [
    {
      what: 'Key',
      ok: key !== undefined,
      detail: key ? `${header.kid} is published` : `${header.kid ?? 'no kid'} is not published (any more)`,
    },
    {
      what: 'Signature',
      ok: signed,
      detail: signed ? `${header.alg} signature is valid` : 'the signature does not fit the key',
    },
    {
      what: 'Digest',
      ok: claims.digest === digest,
      detail: claims.digest === digest ? 'SHA-256 of this payload' : `the payload has ${digest}`,
    },
    { what: 'Event', ok: claims.sub === expected.eventId, detail: `sub is ${text(claims.sub)}` },
    { what: 'Subscription', ok: claims.aud === expected.subscriptionId, detail: `aud is ${text(claims.aud)}` },
    { what: 'Issued', ok: typeof claims.iat === 'number', detail: `${issued}; valid for five minutes from then` },
  ]
  return checks
}

async function signatureHolds(token: string, alg: string, jwk: Jwk): Promise<boolean> {
  const algorithm = algorithms[alg]
  if (!algorithm || (jwk.alg !== undefined && jwk.alg !== alg)) return false
  const [head, body, signature] = token.split('.') as [string, string, string]
  const { kty, crv, x, y, n, e } = jwk
  const bare = Object.fromEntries(Object.entries({ kty, crv, x, y, n, e }).filter(([, value]) => value !== undefined))
  const key = await crypto.subtle.importKey('jwk', bare as JsonWebKey, algorithm.import, false, ['verify'])
  return crypto.subtle.verify(algorithm.verify, key, bytesOf(signature), new TextEncoder().encode(`${head}.${body}`))
}

// The payload as it was sent: taken out of the reply as text, because parsed and written again some of its numbers would change.
export function payloadText(reply: string): string {
  const start = reply.indexOf(',"payload":')
  const end = reply.lastIndexOf(',"attempts":[')
  return start < 0 || end < start ? '' : reply.slice(start + ',"payload":'.length, end)
}

function parsePart(part: string): Record<string, unknown> {
  return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytesOf(part))) as Record<string, unknown>
}

function bytesOf(base64url: string): Uint8Array<ArrayBuffer> {
  const binary = atob(base64url.replaceAll('-', '+').replaceAll('_', '/'))
  return Uint8Array.from(binary, (char) => char.charCodeAt(0))
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
