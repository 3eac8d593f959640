// Where a sequence happens: a running service, with partners made for it and two operators. Turns the model's calls into
// requests, and answers into the model's form.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { demoConfiguration } from '../../src/sandbox/demo-configuration.ts'
import type { ApiClient, ApiReply, Body } from './client.ts'
import type { Call, Reply, Rules } from './order-model.ts'
import type { Currency, Fee } from './order-model-money.ts'
import type { Tables } from './order-model-tables.ts'
import { plain } from './order-model-views.ts'
import { cbuFields, withdrawal } from './orders.ts'
import { as, newKey } from './partner.ts'

export interface Site extends Pick<Rules, 'rail' | 'lapse'> {
  readonly partner: ApiClient
  readonly operator: ApiClient // with the bootstrap token
  readonly payer: ApiClient // with another operator's
  readonly failing: boolean // whether calls may get lost: connections are cut, or the service is killed
  readonly tables: Tables | undefined // on PostgreSQL
  readonly prototype?: string // a player to copy, where the tables can be reached: much cheaper than making one
}

export interface Answer extends Reply {
  readonly raw: Body
}

type Served = { readonly partner: ApiClient; readonly operator: ApiClient }

const restMs = 100
const noFee = { fixed: '0', percentage: '0' }

export async function createSite(
  { partner, operator }: Served,
  options: Pick<Site, 'rail' | 'lapse' | 'failing' | 'tables'>,
): Promise<Site> {
  const site = { partner, operator, payer: await newPayer(operator), ...options }
  return site.tables ? { ...site, prototype: (await newPlayer(site, { ARS: noFee, ETH: noFee })).id } : site
}

async function newPayer(operator: ApiClient): Promise<ApiClient> {
  const reply = await operator.post('/tokens', { name: 'payer', roles: ['payouts', 'support'] })
  assert.equal(reply.status, 201, reply.text)
  return as(operator, reply.body.secret)
}

const wallet = {
  type: 'wallet',
  required_fields: [{ key: 'address', type: 'string', optional: false }],
  currencies: ['ETH'],
}
const configurationWith = (fees: Readonly<Record<Currency, Fee>>) => ({
  ...demoConfiguration,
  available_outgoing_fiat_instructions: [...demoConfiguration.available_outgoing_fiat_instructions!, wallet],
  withdrawal_fees: [
    { type: 'ar_cbu', currency: 'ARS', ...fees.ARS },
    { type: 'wallet', currency: 'ETH', ...fees.ETH },
  ],
})
const instructions = {
  ARS: { type: 'ar_cbu', currency: 'ARS', fields: cbuFields },
  ETH: { type: 'wallet', currency: 'ETH', fields: { address: '0x52908400098527886E0F7030069857D2E4169EE7' } },
}
const scopes = ['orders:read', 'orders:write', 'orders:confirm', 'webhooks:read', 'webhooks:write']
const events = ['partner-order-created', 'partner-order-updated', 'partner-order-closed']

export interface Player {
  readonly id: string
  readonly api: ApiClient
}

// With a subscription to everything about its orders; disabled, so that its events are made and kept but sent nowhere.
export async function newPlayer(site: Site, fees: Readonly<Record<Currency, Fee>>): Promise<Player> {
  if (site.tables && site.prototype) {
    const { id, secret } = await site.tables.copyPartner(site.prototype, configurationWith(fees))
    return { id, api: as(site.partner, secret) }
  }
  return insist(site, async () => {
    const created = await site.operator.post('/partners', { name: 'Player', configuration: configurationWith(fees) })
    assert.equal(created.status, 201, created.text)
    const { api } = await newKey(site, created.body.id, scopes)
    const subscribed = await api.post('/webhooks/subscriptions', { url: 'https://player.example/', events })
    assert.equal(subscribed.status, 201, subscribed.text)
    const disabled = await api.patch(`/webhooks/subscriptions/${subscribed.body.id}`, { state: 'disabled' })
    assert.equal(disabled.status, 200, disabled.text)
    return { id: created.body.id, api }
  })
}

// Again and again, where calls may get lost.
export async function insist<T>({ failing }: Site, work: () => Promise<T>): Promise<T> {
  for (const until = Date.now() + 60_000; ; ) {
    try {
      return await work()
    } catch (error) {
      if (!failing || Date.now() > until) throw error
      await sleep(restMs)
    }
  }
}

export async function read(site: Site, api: ApiClient, path: string): Promise<Body> {
  return insist(site, async () => {
    const reply = await api.get(path)
    assert.equal(reply.status, 200, reply.text)
    return reply.body
  })
}

// Undefined when there was no answer, or one that leaves open whether it happened.
export async function send(
  site: Site,
  players: readonly Player[],
  call: Call,
  realId: (id: string) => string,
): Promise<Answer | undefined> {
  let reply: ApiReply
  try {
    if (call.do === 'lapse') return { status: (await site.tables!.expireNow(call.order)) ? 200 : 404, raw: undefined }
    reply = await request(site, players, call, realId)
  } catch (error) {
    if (!site.failing || !(error instanceof TypeError) || error.message !== 'fetch failed') throw error
    await sleep(restMs) // while it starts again it has better to do than to be asked
    return undefined
  }
  const { status, body: raw, headers } = reply
  if (site.failing && status === 503) return undefined
  const replayed = headers.get('idempotent-replayed') === 'true'
  if (status >= 300) return { status, code: raw.error_code, replayed, raw }
  if (status === 204) return { status, replayed, raw }
  const body = call.do === 'instruct' ? { id: raw.id, currency: raw.currency } : plain(raw)
  return { status, body, replayed, raw }
}

function request(
  site: Site,
  players: readonly Player[],
  call: Call,
  realId: (id: string) => string,
): Promise<ApiReply> {
  const options = call.key === undefined ? {} : { headers: { 'idempotency-key': call.key } }
  const api = 'operator' in call ? (call.operator === 'payer' ? site.payer : site.operator) : apiOf(players, call)
  switch (call.do) {
    case 'topUp': {
      const { currency, amount, reference } = call
      return api.post(`/partners/${call.partner}/top-ups`, { currency, amount, reference_id: reference }, options)
    }
    case 'instruct':
      return api.post('/partner/outgoing-instructions', instructions[call.currency], options)
    case 'forget':
      return api.delete(`/partner/outgoing-instructions/${call.instruction}`, options)
    case 'create': {
      const { withdrawal: details, ...rest } = withdrawal(call.instruction, call.amount, {
        reference_id: call.reference,
      })
      return api.post('/partner/orders', { ...rest, withdrawal: { ...details, currency: call.currency } }, options)
    }
    case 'confirm':
    case 'cancel':
      return api.post(`/partner/orders/${realId(call.order)}/${call.do}`, undefined, options)
    default: {
      const act = call.do === 'withdraw' ? 'cancel' : call.do
      return api.post(`/orders/${realId(call.order)}/${act}`, undefined, options)
    }
  }
}

function apiOf(players: readonly Player[], call: Call): ApiClient {
  return players.find(({ id }) => 'partner' in call && id === call.partner)!.api
}
