// Tokens that a partner signs with its own private key. One algorithm per key, so that neither `none` nor a public key used
// as an HMAC secret is ever tried. Claims that bind a token to a moment, a request or a body are enforced when present, and
// their presence when the key asks for it.
import type { FastifyRequest } from 'fastify'
import { decodeJwt, errors, type JWTPayload, jwtVerify } from 'jose'
import { isStorable } from '../http/json-body.ts'
import type { Credential } from './directory.ts'

const oldestSeconds = 15 * 60
const mostAheadSeconds = 60

export interface TokenClaims {
  readonly jti: string | undefined
  readonly bodyHash: string | undefined
  readonly uselessAfter: Date // from then on the token would be refused for its age: its jti need not be remembered
}

export async function verifyToken(
  token: string,
  request: FastifyRequest,
  now: Date,
  findKey: (keyId: string) => Promise<Credential | undefined>,
): Promise<{ key: Credential; claims: TokenClaims } | undefined> {
  try {
    const { iss } = decodeJwt(token)
    if (typeof iss !== 'string' || !/^key_[0-9a-z]{26}$/.test(iss)) return undefined
    const key = await findKey(iss)
    if (!key?.verifyKey || !key.algorithm) return undefined
    const { payload } = await jwtVerify(token, key.verifyKey, {
      algorithms: [key.algorithm],
      currentDate: now,
      clockTolerance: mostAheadSeconds, // for nbf; exp is held to the second below
    })
    const claims = checkClaims(payload, key, request, now)
    return claims && { key, claims }
  } catch (error) {
    if (error instanceof errors.JOSEError) return undefined
    throw error
  }
}

function checkClaims(
  payload: JWTPayload,
  key: Credential,
  request: FastifyRequest,
  now: Date,
): TokenClaims | undefined {
  const seconds = now.getTime() / 1_000
  const { iat, exp, jti, htm, htu, bodyHash } = payload
  if (typeof iat !== 'number' || seconds - iat > oldestSeconds || iat - seconds > mostAheadSeconds) return undefined
  if (exp !== undefined && exp <= seconds) return undefined
  if (jti !== undefined && (typeof jti !== 'string' || jti === '' || jti.length > 200 || !isStorable(jti)))
    return undefined
  if (htm !== undefined && htm !== request.method) return undefined
  if (htu !== undefined && pathOf(htu) !== request.url.split('?')[0]) return undefined
  if (bodyHash !== undefined && (typeof bodyHash !== 'string' || !/^[0-9a-f]{64}$/i.test(bodyHash))) return undefined
  if (key.requiredClaims.some((claim) => payload[claim] === undefined)) return undefined
  return {
    jti,
    bodyHash: bodyHash as string | undefined,
    uselessAfter: new Date((iat + oldestSeconds + mostAheadSeconds) * 1_000),
  }
}

// A path, or a whole URL of which the path counts: which host a proxy answers for is not known here.
function pathOf(htu: unknown): string | undefined {
  if (typeof htu !== 'string') return undefined
  if (htu.startsWith('/')) return htu.split('?')[0]
  return URL.canParse(htu) ? new URL(htu).pathname : undefined
}
