// The error table: every code the API can answer with, its status, and the sentence used when a caller gives none.
// Throw `fail(code, sentence)` anywhere; the listener turns it into {"error_code", "error_msg"} and nothing else.

export const errorTable = {
  body_parse_error: { status: 400, sentence: 'The request body is not valid JSON.' },
  invalid_parameters: { status: 400, sentence: 'A parameter is missing or invalid.' },
  invalid_event_state: { status: 400, sentence: 'The event cannot be resent in its current state.' },
  invalid_order_state: { status: 400, sentence: 'The order cannot be confirmed in its current state.' },
  insufficient_funds: { status: 400, sentence: 'The settlement account does not hold enough available funds.' },
  invalid_destination: { status: 400, sentence: 'The destination of the withdrawal cannot be used.' },
  auth_required: { status: 401, sentence: 'A valid API credential is required.' },
  forbidden: { status: 403, sentence: 'The credential does not allow this operation.' },
  not_found: { status: 404, sentence: 'There is nothing here under that address or id.' },
  method_not_allowed: { status: 405, sentence: 'This address does not support that method.' },
  conflict: { status: 409, sentence: 'The request conflicts with an earlier one.' },
  payload_too_large: { status: 413, sentence: 'The request body is too large.' },
  unsupported_media_type: { status: 415, sentence: 'The request body must be application/json.' },
  too_many_requests: { status: 429, sentence: 'Too many requests; slow down and retry later.' },
  internal_error: {
    status: 500,
    sentence: 'Something went wrong on our side; quote the X-Request-Id when you report it.',
  },
  service_unavailable: { status: 503, sentence: 'The service cannot answer right now; retry shortly.' },
} as const

export type ErrorCode = keyof typeof errorTable

export class Failure extends Error {
  readonly code: ErrorCode
  readonly headers: Record<string, string>

  constructor(code: ErrorCode, sentence: string, headers: Record<string, string> = {}) {
    super(sentence)
    this.code = code
    this.headers = headers
  }
}

// Returned rather than thrown here, so that `throw fail(…)` shows the compiler where a function ends.
export function fail(code: ErrorCode, sentence?: string, headers?: Record<string, string>): Failure {
  return new Failure(code, sentence ?? errorTable[code].sentence, headers)
}
