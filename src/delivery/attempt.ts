// One attempt: the event's bytes, signed anew, to where its subscription points now.

import type { Signer } from '../signing/signer.ts'
import { version } from '../version.ts'
import type { Outcome } from './outcome.ts'
import type { Sender } from './sender.ts'

export interface Delivery {
  readonly eventId: string
  readonly subscriptionId: string
  readonly action: string
  readonly attempt: number
  readonly url: string
  readonly body: Uint8Array
}

const userAgent = `partner-service/${version}`

export function deliver(sender: Sender, signer: Signer, delivery: Delivery): Promise<Outcome> {
  return sender.send(delivery.url, headersOf(signer, delivery), delivery.body)
}

// Names and values in turn, with a fresh signature.
export function headersOf(
  signer: Signer,
  { eventId, subscriptionId, action, attempt, body }: Omit<Delivery, 'url'>,
): string[] {
  return [
    'content-type',
    'application/json',
    'user-agent',
    userAgent,
    'x-jwt-signature',
    signer.sign(eventId, subscriptionId, body),
    'x-event-id',
    eventId,
    'x-event-type',
    action,
    'x-attempt-number',
    String(attempt),
  ]
}
