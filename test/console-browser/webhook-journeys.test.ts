// What a partner does about webhooks in the console, walked in a real browser against the real service and a real TLS endpoint.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { eventually, startEndpoint } from '../support/endpoint.ts'
import { newKey, publish, publishMany, subscribe, untilEvent } from '../support/partner.ts'
import { startTestService } from '../support/service.ts'
import { startBrowser, visit } from '../support/visitor.ts'

const service = await startTestService({ after }, { environment: { WEBHOOK_RETRY_SCHEDULE: '1s' } })
const browser = await startBrowser({ after })

test('somebody signs in with a key, sees whose console it is, and signs out', async () => {
  const visitor = await visit(browser, service, { secret: null })
  const { page } = visitor
  visitor.forgive(/status of 401/)
  await visitor.open('/')
  await page.getByLabel('API key', { exact: true }).fill('psk_wrong')
  await page.getByRole('button', { name: 'Sign in' }).click()
  const refusal = page.getByRole('alert')
  await refusal.getByText('A valid API credential is required.').waitFor()
  assert.match((await refusal.textContent()) ?? '', /Request\s*req_/, 'the refusal names its request')

  await page.getByLabel('API key', { exact: true }).fill(service.demoSecret)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  await page.getByText('Demo Partner').waitFor()
  assert.equal(await page.evaluate('document.cookie'), '', 'no script can read the cookie')

  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByLabel('API key', { exact: true }).waitFor()
  await page.reload()
  await page.getByLabel('API key', { exact: true }).waitFor()
  visitor.assertFine()
  await visitor.close()
})

test('a subscription is created, and a test shows what the endpoint answers', async (t) => {
  const endpoint = await startEndpoint(t)
  endpoint.answer = ({ event }) => (event.action === 'test' ? { status: 202, body: 'thank you' } : 200)
  const visitor = await visit(browser, service)
  const { page } = visitor
  await page.getByRole('link', { name: 'Subscriptions', exact: true }).click()
  await page.getByRole('link', { name: 'New subscription' }).first().click()

  await page.getByRole('button', { name: 'Subscribe' }).click()
  await page.getByText('An https:// address is needed.').waitFor()
  await page.getByText('Choose at least one event type.').waitFor()
  await page.getByLabel('Endpoint URL').fill(endpoint.url)
  await page.getByRole('checkbox', { name: /^order-closed/ }).check()
  await page.getByLabel('Description').fill('Made in the console')
  await page.getByRole('button', { name: 'Subscribe' }).click()

  await page.getByRole('heading', { level: 1, name: endpoint.url }).waitFor()
  await page.getByRole('button', { name: 'Send a test event' }).click()
  await page.getByText(/^Delivered in .*: 202$/).waitFor()
  await page.getByText('thank you').waitFor()
  await page.getByText('What was sent, and its signature').click()
  await page.getByText('Genuine: we signed exactly this event for this subscription').waitFor()
  assert.equal(endpoint.received.length, 1)
  assert.equal(endpoint.received[0]!.event.action, 'test')
  visitor.assertFine()
  await visitor.close()
})

test('an event fails, the page says why, and after a resend it turns green without reloading', async (t) => {
  const endpoint = await startEndpoint(t)
  endpoint.answer = () => ({ status: 500, body: '{"error":"the disk is full"}' })
  const { id } = await subscribe(service.partner, endpoint.url, { description: 'Failing' })
  const visitor = await visit(browser, service)
  const { page } = visitor
  await visitor.open(`/events?subscription_id=${id}`)
  await page.getByText('No event matches').waitFor()
  await page.getByRole('status').getByText('Live').waitFor()
  await page.evaluate('window.neverReloaded = true')

  await publish(service, service.demoPartnerId)
  await page
    .getByRole('row', { name: /order-closed/ })
    .getByText('Failed')
    .waitFor()
  await page.getByRole('link', { name: 'order-closed' }).click()
  await page.getByText('Not delivered after 2 attempts: your endpoint answered with status 500').waitFor()
  await page.getByText('The error is on your side', { exact: false }).waitFor()
  await page.getByRole('region', { name: 'Answer of the endpoint' }).first().getByText('the disk is full').waitFor()

  endpoint.answer = () => ({ status: 200, body: 'better now' })
  await page.getByRole('button', { name: 'Resend' }).click()
  await page.getByText('Delivered at attempt 3').waitFor()
  await page.getByText('better now').waitFor()
  await page.getByRole('link', { name: 'Events', exact: true }).first().click()
  assert.equal(await page.evaluate('window.neverReloaded'), true)
  visitor.assertFine()
  await visitor.close()
})

test('the signature that an endpoint received is decoded and verified in the browser, and a forged one is not believed', async (t) => {
  const endpoint = await startEndpoint(t)
  await subscribe(service.partner, endpoint.url, { events: ['incoming-funds'] })
  const [eventId] = await publish(service, service.demoPartnerId, { action: 'incoming-funds' })
  const [received] = await endpoint.until(1)
  await untilEvent(service.partner, eventId!, (event) => event.state === 'completed')
  const signature = received!.headers['x-jwt-signature'] as string
  const visitor = await visit(browser, service)
  const { page } = visitor
  await visitor.open(`/events/${eventId}`)
  const field = page.getByLabel('Check a signature you received')
  await field.fill(signature)
  await page.getByText('Genuine: we signed exactly this event for this subscription').waitFor()
  await page.getByText('"digest"').waitFor()

  const [head, claims, mark] = signature.split('.') as [string, string, string]
  const forged = { ...JSON.parse(Buffer.from(claims, 'base64url').toString()), jti: 'another' }
  await field.fill(`${head}.${Buffer.from(JSON.stringify(forged)).toString('base64url')}.${mark}`)
  await page.getByText('Not a genuine signature of this event').waitFor()
  await page.getByText('the signature does not fit the key').waitFor()
  await field.fill('nonsense')
  await page.getByText('A JWT has three parts').waitFor()
  visitor.assertFine()
  await visitor.close()
})

test('everything that matches a search is sent again, with its progress shown', async (t) => {
  const endpoint = await startEndpoint(t)
  const { id } = await subscribe(service.partner, endpoint.url, { events: ['customer-state-changed'] })
  const ids = await publishMany(service, service.demoPartnerId, 40, 'customer-state-changed')
  await endpoint.until(40)
  for (const eventId of ids) await untilEvent(service.partner, eventId, (event) => event.state === 'completed')
  const visitor = await visit(browser, service)
  const { page } = visitor
  await visitor.open(`/events?subscription_id=${id}&state=completed`)
  await page.getByRole('button', { name: 'Resend matching' }).click()
  await page.getByRole('dialog').getByText(id).waitFor()
  await page.getByRole('button', { name: 'Resend them' }).click()
  await page.getByRole('progressbar', { name: 'Bulk resend' }).waitFor()
  await page.getByText('Done: 40 events sent again').waitFor()
  await endpoint.until(80)
  visitor.assertFine()
  await visitor.close()
})

test('a subscription that was disabled is enabled again, and gets what it missed', async (t) => {
  const endpoint = await startEndpoint(t)
  const { id } = await subscribe(service.partner, endpoint.url, { events: ['order-updated'] })
  const visitor = await visit(browser, service)
  const { page } = visitor
  await visitor.open(`/subscriptions/${id}`)
  await page.getByRole('button', { name: 'Disable' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Disable' }).click()
  await page.getByText('This subscription is disabled').waitFor()
  const [eventId] = await publish(service, service.demoPartnerId, { action: 'order-updated' })
  await visitor.open(`/events/${eventId}`)
  await page.getByText('Not delivered: its subscription is disabled').waitFor()
  await page.getByRole('link', { name: 'Go to the subscription' }).click()
  await page.getByRole('button', { name: 'Enable and resend what was missed' }).click()
  await page.getByText('Done: 1 event sent again').waitFor()
  await endpoint.until(1)
  await page
    .getByRole('row', { name: /order-updated/ })
    .getByText('Delivered')
    .waitFor()
  visitor.assertFine()
  await visitor.close()
})

test('whoever is signed in is shown out when the key is revoked, without touching anything', async () => {
  const key = await newKey(service, service.demoPartnerId, ['webhooks:read', 'partner:read'])
  const visitor = await visit(browser, service, { secret: key.secret })
  visitor.forgive(/status of 401|net::ERR/)
  await visitor.go('/requests') // a page that reads nothing by itself
  await visitor.page.getByRole('status').getByText('Live').waitFor()
  await service.partner.delete(`/partner/keys/${key.id}`)
  await visitor.page.getByText('Your session has ended').waitFor()
  await eventually(async () => (await visitor.page.getByRole('navigation').count()) === 0, 'the menu to be gone')
  visitor.assertFine()
  await visitor.close()
})
