// A service with something on every page of the console: endpoints that answer, fail and were disabled, a day of deliveries, orders in
// every state, keys, several partners. For tests that look at every page.
import assert from 'node:assert/strict'
import { openEmbedded } from '../../src/db/embedded.ts'
import { bucketEnds, bucketOf } from '../../src/webhooks/latency.ts'
import type { ApiClient, Body } from './client.ts'
import { createDatabase } from './database.ts'
import { startEndpoint } from './endpoint.ts'
import { startTestService, type TestService } from './service.ts'

interface Stoppable {
  after(work: () => Promise<void> | void): void
}

export interface ConsoleSite {
  readonly service: TestService
  readonly ids: Readonly<
    Record<
      'failing' | 'disabled' | 'failedEvent' | 'goodEvent' | 'done' | 'waiting' | 'open' | 'instruction' | 'partner',
      string
    >
  >
}

const names = ['hooks.demo-partner.example', 'ledger.demo-partner.example']
const everything = [
  ...['order-closed', 'order-updated', 'partner-order-created', 'partner-order-closed', 'partner-order-updated'],
  ...['customer-state-changed', 'customer-requirement-rejected', 'incoming-funds'],
]
const environment = { PAYOUT_RAIL: 'operator', WEBHOOK_RETRY_SCHEDULE: '1s,1h' }
const resolve = async () => [{ address: '127.0.0.1', family: 4 as const }]

export async function startConsoleSite(t: Stoppable): Promise<ConsoleSite> {
  const good = await startEndpoint(t, names)
  const bad = await startEndpoint(t, names)
  good.answer = () => ({ status: 200, body: '{"received": true}' })
  bad.answer = () => ({ status: 500, body: '{"error": "relation \\"entries\\" does not exist", "at": "ledger.ts:42"}' })
  const at = (host: string, port: number, path: string) => `https://${host}:${port}${path}`

  // The past can only be written while no service runs on the folder.
  const database = await createDatabase('embedded')
  let stopFirst: () => Promise<void> | void = () => {}
  const untilThen: Stoppable = {
    after(work) {
      stopFirst = work
    },
  }
  const first = await startTestService(untilThen, { database, environment, resolve })
  const subscribe = async (url: string, events: string[], description: string): Promise<string> =>
    (await ok(first.partner.post('/webhooks/subscriptions', { url, events, description }))).id
  const orders = await subscribe(at(names[0]!, good.port, '/orders'), everything, 'Order service')
  const kyc = await subscribe(
    at(names[0]!, good.port, '/kyc'),
    ['customer-state-changed', 'incoming-funds'],
    'Back office',
  )
  const failing = await subscribe(at(names[1]!, bad.port, '/import'), ['order-closed'], 'Ledger importer')
  const disabled = await subscribe(at(names[0]!, good.port, '/v0'), ['order-updated'], '')
  await ok(first.partner.post(`/webhooks/subscriptions/${disabled}/disable`))
  await stopFirst()
  await writeHistory(database.dataDir, first.demoPartnerId, [orders, kyc, failing])

  const service = await startTestService(t, { database, environment, resolve })
  t.after(() => database.remove())
  const events = await fillEvents(service, failing)
  return {
    service,
    ids: { ...(await fillMoney(service)), ...(await fillPartners(service)), ...events, failing, disabled },
  }
}

async function ok(reply: ReturnType<ApiClient['get']>): Promise<Body> {
  const { status, text, body } = await reply
  assert.ok(status < 300, text)
  return body
}

// A day and a bit, by the quarter of an hour: more by day than by night, and one endpoint that began to fail an hour ago.
async function writeHistory(folder: string, partnerId: string, subscriptions: readonly string[]): Promise<void> {
  const db = await openEmbedded(folder)
  const quarter = 900_000
  const last = Math.floor(Date.now() / quarter)
  for (let i = 1; i <= 100; i++) {
    const day = 0.55 + 0.45 * Math.sin(((last - i) / 96) * 2 * Math.PI)
    for (const [place, subscription] of subscriptions.entries()) {
      const delivered = Math.round(day * (90 - 30 * place) + ((i * 37 + place * 11) % 17))
      const broken = place === 2 && i <= 4
      const durations = bucketEnds.map(() => 0)
      for (let n = 0; n < delivered; n++)
        durations[bucketOf(20 + ((n * n * 7 + i) % 110) + (n % 29 === 0 ? 900 : 0))]!++
      await db.query(
        `insert into delivery_statistics (partner_id, span_seconds, at, subscription_id, delivered, failed, duration_ms, durations)
         values ($1, 900, $2, $3, $4, $5, $6, $7)`,
        [
          partnerId,
          new Date((last - i) * quarter).toISOString(),
          subscription,
          broken ? 0 : delivered,
          broken ? delivered : i % 23 === 0 ? 6 : i % 5 === 0 ? 1 : 0,
          delivered * 80,
          durations,
        ],
      )
    }
  }
  await db.close()
}

async function fillEvents(service: TestService, failing: string) {
  const { partner } = service
  for (const action of [...everything, ...everything.slice(2)]) await ok(partner.post('/sandbox/events', { action }))
  const find = async (filter: string): Promise<Body[]> => (await ok(partner.get(`/webhooks/events?${filter}`))).events
  for (let tries = 0; ; tries++) {
    const [failed] = await find(`subscription_id=${failing}`)
    const [good] = await find('state=completed&action=incoming-funds')
    if (failed?.delivery_tries >= 2 && good) return { failedEvent: failed.id as string, goodEvent: good.id as string }
    assert.ok(tries < 1_000, 'the events are delivered')
    await new Promise((done) => setTimeout(done, 50))
  }
}

async function fillMoney({ partner, operator }: TestService) {
  const instruction = await ok(
    partner.post('/partner/outgoing-instructions', {
      type: 'ar_cbu',
      currency: 'ARS',
      label: 'Payroll account',
      fields: { cbu: '2850590940090418135201', holder_name: 'Ada Lovelace' },
    }),
  )
  const order = async (amount: string, reference: string, confirm: boolean): Promise<string> => {
    const withdrawal = {
      currency: 'ARS',
      amount,
      type: 'outgoing_instruction',
      outgoing_instruction: { instruction_id: instruction.id },
    }
    const { id } = await ok(
      partner.post('/partner/orders', { operation: 'withdrawal', reference_id: reference, withdrawal }),
    )
    if (confirm) await ok(partner.post(`/partner/orders/${id}/confirm`))
    return id
  }
  const done = await order('25000.00', 'payout-2041', true)
  await ok(operator.post(`/orders/${done}/take`))
  await ok(operator.post(`/orders/${done}/complete`))
  const failed = await order('1800.00', 'payout-2042', true)
  await ok(operator.post(`/orders/${failed}/take`))
  await ok(operator.post(`/orders/${failed}/fail`))
  const taken = await order('7300.00', 'payout-2043', true)
  await ok(operator.post(`/orders/${taken}/take`))
  const waiting = await order('64250.00', 'payout-2044', true)
  const open = await order('12500.00', 'payout-2045', false)
  await ok(
    partner.post('/partner/keys', { name: 'Order service', scopes: ['partner:read', 'webhooks:read', 'orders:read'] }),
  )
  await ok(
    partner.post('/partner/keys', {
      name: 'Payouts',
      scopes: ['orders:read', 'orders:write', 'orders:confirm'],
      allowed_cidrs: ['192.0.2.0/24'],
    }),
  )
  return { instruction: instruction.id as string, done, waiting, open }
}

async function fillPartners({ operator }: TestService) {
  const partner = await ok(operator.post('/partners', { name: 'Acme Pay' }))
  const path = `/partners/${partner.id}/configuration`
  const configuration = await ok(operator.get(path))
  const asset = { id: 'BTC', decimal_places: 8, allowed_operations: ['buy', 'sell'] }
  await ok(operator.put(path, { ...configuration, kyc_mode: 'service_collect', available_assets: [asset] }))
  await ok(
    operator.put(path, {
      ...configuration,
      kyc_mode: 'partner_collect',
      available_assets: [asset],
      products: ['crypto_buy_sell'],
    }),
  )
  await ok(
    operator.post(`/partners/${partner.id}/keys`, { name: 'Acme backend', scopes: ['partner:read', 'webhooks:read'] }),
  )
  await ok(operator.post('/partners', { name: 'Globex Wallet' }))
  await ok(operator.post('/tokens', { name: 'Grace', roles: ['support'] }))
  return { partner: partner.id as string }
}
