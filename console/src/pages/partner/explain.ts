// Why a delivery failed and what to do about it, in plain words: the daily question.
import type { Attempt, WebhookEvent } from '../../api/webhook-types.ts'
import { plural } from '../../ui/number.ts'

const kinds: Record<string, { what: string; advice: string }> = {
  dns: {
    what: 'the name of your endpoint could not be resolved',
    advice: 'Check the host name in the subscription’s URL and its DNS records.',
  },
  connect: {
    what: 'no connection could be made to your endpoint',
    advice: 'Check that the server is running, that the port is right, and that no firewall refuses us.',
  },
  tls: {
    what: 'the TLS handshake with your endpoint failed',
    advice: 'Check the certificate: its chain, its names, and whether it has expired.',
  },
  timeout: {
    what: 'your endpoint did not answer in time',
    advice: 'Answer with a 2xx status first and do the work afterwards.',
  },
  reset: {
    what: 'your endpoint closed the connection without an answer',
    advice: 'Look for crashes or limits of the server or proxy in front of it.',
  },
  blocked_address: {
    what: 'the name of your endpoint leads to an address that is not public',
    advice: 'Webhooks are only sent to public addresses. Check the DNS records of the host.',
  },
  protocol: {
    what: 'what your endpoint answered was not valid HTTP',
    advice: 'Check what really listens at that address and port.',
  },
}

const reasons: Record<string, { what: string; advice: string }> = {
  subscription_disabled: {
    what: 'its subscription is disabled',
    advice: 'Enable the subscription, and resend what was missed.',
  },
  subscription_deleted: { what: 'its subscription was deleted', advice: 'It cannot be sent any more.' },
}

export function statusWords(status: number): { what: string; advice: string } {
  const answered = `your endpoint answered with status ${status}`
  if (status >= 300 && status < 400)
    return { what: `${answered}, a redirect`, advice: 'Redirects are never followed: subscribe the final address.' }
  if (status === 401 || status === 403)
    return {
      what: answered,
      advice: 'Something refuses us: check access rules, and verify our signature instead of a login.',
    }
  if (status === 404 || status === 405)
    return { what: answered, advice: 'The path or method is not served: check the URL of the subscription.' }
  if (status === 410)
    return { what: `${answered}, gone`, advice: 'That disables the subscription: enable it when the endpoint is back.' }
  if (status === 429)
    return { what: answered, advice: 'We slow down by ourselves; a rate limit on the subscription makes it steady.' }
  if (status >= 500)
    return { what: answered, advice: 'The error is on your side: look into the logs of the endpoint for this time.' }
  return { what: answered, advice: 'Only a 2xx status counts as delivered.' }
}

export function attemptWords({ status, error_kind }: Pick<Attempt, 'status' | 'error_kind'>): {
  what: string
  advice: string
} {
  if (status !== null) {
    if (status >= 200 && status < 300) return { what: `your endpoint answered with status ${status}`, advice: '' }
    return statusWords(status)
  }
  return kinds[error_kind ?? ''] ?? { what: `it failed (${error_kind ?? 'no reason known'})`, advice: '' }
}

export function isDelivered({ status }: Pick<Attempt, 'status'>): boolean {
  return status !== null && status >= 200 && status < 300
}

// In a few characters, for lists.
export function shortReason({ last_response_status: status, error_reason }: WebhookEvent): string {
  if (error_reason && reasons[error_reason])
    return error_reason === 'subscription_deleted' ? 'Subscription deleted' : 'Subscription disabled'
  if (status !== null) return `Status ${status}`
  return error_reason ? error_reason.replaceAll('_', ' ') : '–'
}

export interface Verdict {
  readonly kind: 'good' | 'bad' | 'warn' | 'info'
  readonly title: string
  readonly advice: string
}

export function verdictOf(event: WebhookEvent, attempts: readonly Attempt[]): Verdict {
  const last = attempts.at(-1)
  const tries = plural(event.delivery_tries, 'attempt')
  if (event.state === 'completed') {
    const first = attempts.find(isDelivered)
    const title = first && first.number > 1 ? `Delivered at attempt ${first.number}` : 'Delivered'
    return { kind: 'good', title, advice: last ? sentence(attemptWords(last).what) : '' }
  }
  const reason = reasons[event.error_reason ?? '']
  if (event.state === 'error') {
    if (reason) return { kind: 'bad', title: `Not delivered: ${reason.what}`, advice: reason.advice }
    if (!last) return { kind: 'bad', title: 'Not delivered', advice: event.error_reason ?? '' }
    const { what, advice } = attemptWords(last)
    return { kind: 'bad', title: `Not delivered after ${tries}: ${what}`, advice }
  }
  if (!last) return { kind: 'info', title: 'On its way: no attempt has been made yet', advice: '' }
  if (isDelivered(last)) return { kind: 'info', title: 'It is being sent once more', advice: '' }
  const { what, advice } = attemptWords(last)
  return { kind: 'warn', title: `Not delivered yet: ${what}`, advice }
}

export function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}
