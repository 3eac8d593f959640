// What became of an attempt, as a value. The status line decides; everything that went wrong before one has a kind.
export const errorKinds = ['dns', 'connect', 'tls', 'timeout', 'reset', 'blocked_address', 'protocol'] as const
export type ErrorKind = (typeof errorKinds)[number]

export type Outcome =
  | {
      readonly kind: 'status'
      readonly status: number
      readonly retryAfterMs: number | undefined
      readonly body: Buffer
      readonly durationMs: number
    }
  | { readonly kind: ErrorKind; readonly detail: string; readonly durationMs: number }

export class BlockedAddress extends Error {}
export class UnknownHost extends Error {}
export class ProxyRefused extends Error {}

export function isSuccess(outcome: Outcome): boolean {
  return outcome.kind === 'status' && outcome.status >= 200 && outcome.status < 300
}

// How a failure is named in an event's `error_reason`.
export function reasonOf(outcome: Outcome): string {
  return outcome.kind === 'status' ? `http_${outcome.status}` : outcome.kind
}

export function errorKindOf(error: Error & { code?: string }): ErrorKind {
  if (error instanceof BlockedAddress) return 'blocked_address'
  if (error instanceof UnknownHost) return 'dns'
  if (error instanceof ProxyRefused) return 'connect'
  const code = error.code ?? ''
  if (/^(ENOTFOUND|EAI_|ENODATA|ESERVFAIL)/.test(code)) return 'dns'
  if (/^(UND_ERR_CONNECT_TIMEOUT|UND_ERR_HEADERS_TIMEOUT|UND_ERR_BODY_TIMEOUT)$/.test(code)) return 'timeout'
  if (/^(ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|ETIMEDOUT|EADDRNOTAVAIL|EACCES|ENETDOWN)$/.test(code))
    return 'connect'
  if (
    /^(ERR_TLS|ERR_SSL|CERT_|CRL_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|EPROTO|HOSTNAME_MISMATCH|INVALID_|PATH_LENGTH|ERROR_IN_CERT|ERR_OSSL)/.test(
      code,
    )
  )
    return 'tls'
  if (/^HPE_|^UND_ERR_(HEADERS_OVERFLOW|RES_|INFO|INVALID)/.test(code)) return 'protocol'
  if (code === 'UND_ERR_SOCKET' && /^bad /.test(error.message)) return 'protocol' // an answer that HTTP does not allow here
  if (/^(ECONNRESET|EPIPE|UND_ERR_SOCKET|UND_ERR_DESTROYED|UND_ERR_CLOSED|ECONNABORTED)$/.test(code)) return 'reset'
  return error instanceof AggregateError ? 'connect' : 'protocol'
}
