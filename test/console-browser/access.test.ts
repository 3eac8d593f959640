// A partner can never see or do in the console what its key cannot do in the API, and no text that somebody else wrote ever becomes
// more than text.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { ApiReply, Body } from '../support/client.ts'
import { startEndpoint } from '../support/endpoint.ts'
import { cbuFields } from '../support/orders.ts'
import { newKey, newPartner, publish, subscribe, untilEvent } from '../support/partner.ts'
import { startTestService } from '../support/service.ts'
import { settled, startBrowser, visit } from '../support/visitor.ts'

const service = await startTestService(
  { after },
  { environment: { WEBHOOK_RETRY_SCHEDULE: '1s', PAYOUT_RAIL: 'operator' } },
)
const browser = await startBrowser({ after })

test('a key that may only read webhooks sees no menu for the rest, and no action acts', async (t) => {
  const endpoint = await startEndpoint(t)
  const { id } = await subscribe(service.partner, endpoint.url)
  const [eventId] = await publish(service, service.demoPartnerId)
  await untilEvent(service.partner, eventId!, (event) => event.state === 'completed')
  const { secret } = await newKey(service, service.demoPartnerId, ['webhooks:read'])
  const visitor = await visit(browser, service, { secret })
  const { page } = visitor
  const sent: string[] = []
  page.on('request', (request) => {
    if (request.method() !== 'GET') sent.push(`${request.method()} ${request.url()}`)
  })
  const menu = page.getByRole('navigation', { name: 'Main' })
  assert.deepEqual(await menu.getByRole('link').allTextContents(), ['Overview', 'Events', 'Subscriptions'])

  for (const [path, scope] of [
    ['/orders', 'orders:read'],
    ['/keys', 'keys:write'],
    ['/account', 'partner:read'],
    ['/orders/new', 'orders:write'],
    ['/subscriptions/new', 'webhooks:write'],
  ]) {
    await visitor.open(path!)
    await page.getByText(`This API key lacks the scope ${scope}.`).waitFor()
  }
  await visitor.open(`/events/${eventId}`)
  await page.getByRole('button', { name: 'Resend' }).press('Enter')
  await page.getByText('This API key lacks the scope webhooks:write.').waitFor()
  await visitor.open(`/subscriptions/${id}`)
  for (const name of ['Retry now', 'Disable', 'Delete', 'Send a test event'])
    await page.getByRole('button', { name }).press('Enter')
  await settled(page)
  assert.deepEqual(sent, [], 'nothing was sent')
  assert.equal(endpoint.received.length, 1, 'the endpoint got the event and nothing else')

  // Whoever goes around the pages meets the API.
  const status = (method: string, path: string, headers = {}) =>
    page.evaluate(
      `fetch('/v1${path}', { method: '${method}', headers: ${JSON.stringify(headers)} }).then((reply) => reply.status)`,
    )
  visitor.forgive(/status of 403/)
  assert.equal(await status('POST', `/webhooks/events/${eventId}/resend`, { 'x-console': '1' }), 403)
  assert.equal(await status('GET', '/partner/orders'), 403)
  visitor.assertFine()
  await visitor.close()
})

test('what belongs to another partner is not found, whatever is put into the address', async (t) => {
  const endpoint = await startEndpoint(t)
  const other = await newPartner(service, 'Somebody else')
  const { id } = await subscribe(other.api, endpoint.url)
  const [eventId] = await publish(service, other.id)
  await untilEvent(other.api, eventId!, (event) => event.state === 'completed')
  const visitor = await visit(browser, service)
  const { page } = visitor
  visitor.forgive(/status of 404/)
  for (const path of [
    `/events/${eventId}`,
    `/subscriptions/${id}`,
    '/orders/ord_1',
    '/destinations/oin_1',
    '/balances/XYZ',
  ]) {
    await visitor.open(path)
    await page
      .getByText(/Not found|There is no such/)
      .first()
      .waitFor()
  }
  await visitor.open('/events/%2e%2e%2foperator')
  await page.getByText('Not found').waitFor()
  await visitor.open(`/events?subscription_id=${id}`)
  await page.getByText('No event matches').waitFor()
  visitor.assertFine()
  await visitor.close()
})

async function made(reply: Promise<ApiReply>): Promise<Body> {
  const { status, body, text } = await reply
  assert.ok(status < 300, text)
  return body
}

const hostile = `<img src=x onerror="window.hurt=1"><script>window.hurt=1</script>"'\`\${window.hurt=1}{{hurt}}<svg/onload=window.hurt=1> javascript:window.hurt=1 \u202e`

test('scripts in every text that an endpoint or another person controls stay texts', async (t) => {
  const endpoint = await startEndpoint(t)
  endpoint.answer = () => ({ status: 500, headers: { 'content-type': 'text/html' }, body: hostile })
  const api = service.partner
  const partner = await made(service.operator.post('/partners', { name: hostile }))
  const url = `${endpoint.url}?<img src=x onerror=window.hurt=1>&javascript:window.hurt=1`
  const subscription = await subscribe(api, url, { description: hostile })
  const customer = { id: hostile, state: hostile, note: { [hostile]: hostile } }
  await subscribe(api, url, { events: ['customer-state-changed'], description: hostile })
  const [eventId] = await publish(service, service.demoPartnerId, { action: 'customer-state-changed', customer })
  const [failedId] = await publish(service, service.demoPartnerId)
  for (const id of [eventId!, failedId!]) await untilEvent(api, id, (event) => event.state === 'error')
  await made(api.post('/partner/keys', { name: hostile.slice(0, 100), scopes: ['partner:read'] }))
  const instruction = await made(
    api.post('/partner/outgoing-instructions', {
      type: 'ar_cbu',
      currency: 'ARS',
      label: hostile,
      fields: { ...cbuFields, holder_name: hostile.slice(0, 100) },
    }),
  )
  const order = await made(
    api.post('/partner/orders', {
      operation: 'withdrawal',
      reference_id: hostile.slice(0, 200),
      withdrawal: {
        currency: 'ARS',
        amount: '1000.00',
        type: 'outgoing_instruction',
        outgoing_instruction: { instruction_id: instruction.id },
      },
    }),
  )
  const { body: configuration } = await service.operator.get(`/partners/${service.demoPartnerId}/configuration`)
  await made(
    service.operator.put(`/partners/${service.demoPartnerId}/configuration`, {
      ...configuration,
      name: hostile.slice(0, 200),
      logo_url: 'https://elsewhere.example/logo.svg?"><script>window.hurt=1</script>',
    }),
  )
  await made(service.operator.post('/tokens', { name: hostile.slice(0, 100), roles: ['read'] }))

  const partnerPages = [
    ...[
      '/',
      '/events',
      `/events/${eventId}`,
      `/events/${failedId}`,
      `/events?resource_id=${encodeURIComponent(hostile)}`,
    ],
    ...['/subscriptions', `/subscriptions/${subscription.id}`, `/subscriptions/${subscription.id}/edit`],
    ...['/orders', `/orders/${order.id}`, '/orders/new', '/destinations', `/destinations/${instruction.id}`],
    ...['/account', '/keys', `/requests/${encodeURIComponent(hostile).replaceAll('.', '%2E')}`],
  ]
  const operatorPages = [
    ...['/', '/partners', `/partners/${partner.id}`, `/partners/${partner.id}/configuration`, '/orders?state=all'],
    ...[`/orders/${order.id}`, '/audit-log', '/tokens', `/partners/${service.demoPartnerId}/versions`],
  ]
  for (const [as, paths] of [
    ['partner', partnerPages],
    ['operator', operatorPages],
  ] as const) {
    const visitor = await visit(browser, service, { as })
    visitor.forgive(/status of 40[04]/)
    for (const path of paths) {
      await visitor.go(path)
      await visitor.page.evaluate(`for (const each of document.querySelectorAll('details')) each.open = true`)
      assert.equal(await visitor.page.evaluate('window.hurt'), undefined, `${path} ran a script`)
      assert.equal(
        await visitor.page.locator('#root img, #root script, [onerror], [onload]').count(),
        0,
        `${path} made markup of a text`,
      )
      assert.equal(await visitor.page.locator('a[href^="javascript:"]').count(), 0, `${path} made a link of a text`)
    }
    visitor.assertFine()
    await visitor.close()
  }
  const visitor = await visit(browser, service)
  await visitor.open(`/events/${eventId}`)
  await visitor.page
    .getByRole('region', { name: 'Answer of the endpoint' })
    .first()
    .getByText('<script>window.hurt=1</script>')
    .waitFor()
  await visitor.page.getByRole('button', { name: 'Resend' }).click()
  await visitor.page.getByText(/^Not delivered after 3 attempts/).waitFor()
  assert.equal(await visitor.page.evaluate('window.hurt'), undefined)
  await visitor.close()
})
