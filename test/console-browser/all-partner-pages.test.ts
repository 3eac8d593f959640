// Every page of the partner's console is accessible, fits every width, and causes no error; what it weighs; how it is used by keyboard.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startConsoleSite } from '../support/console-site.ts'
import { assertAccessible, settled, startBrowser, visit } from '../support/visitor.ts'
import { lookAtPages } from './pages.ts'

const site = await startConsoleSite({ after })
const browser = await startBrowser({ after })
const { ids, service } = site

test('every page is accessible in light and dark, and fits from 360 to 1920 pixels', async () => {
  await lookAtPages(browser, site, 'partner', {
    overview: '/',
    events: '/events',
    'event-failed': `/events/${ids.failedEvent}`,
    'event-delivered': `/events/${ids.goodEvent}`,
    subscriptions: '/subscriptions',
    subscription: `/subscriptions/${ids.failing}`,
    'subscription-disabled': `/subscriptions/${ids.disabled}`,
    'subscription-new': '/subscriptions/new',
    'subscription-edit': `/subscriptions/${ids.failing}/edit`,
    orders: '/orders',
    'order-done': `/orders/${ids.done}`,
    'order-confirm': `/orders/${ids.open}`,
    'order-new': '/orders/new',
    destinations: '/destinations',
    destination: `/destinations/${ids.instruction}`,
    'destination-new': '/destinations/new',
    balances: '/balances',
    statement: '/balances/ARS',
    account: '/account',
    keys: '/keys',
    requests: '/requests',
    missing: '/nowhere',
  })
})

test('the sign-in page, empty pages and dialogs are accessible too', async () => {
  const stranger = await visit(browser, service, { secret: null })
  await stranger.open('/')
  await assertAccessible(stranger.page, 'the sign-in page')
  await stranger.page.screenshot({ path: 'test/console-browser/screenshots/partner-sign-in-light.png' })
  stranger.assertFine()
  await stranger.close()

  const scopes = ['partner:read', 'webhooks:read', 'webhooks:write', 'orders:read', 'orders:write', 'keys:write']
  const { body: key } = await service.operator.post(`/partners/${ids.partner}/keys`, { name: 'empty', scopes })
  const newcomer = await visit(browser, service, { secret: key.secret })
  for (const path of [
    '/',
    '/events',
    '/subscriptions',
    '/orders',
    '/destinations',
    '/destinations/new',
    '/balances',
    '/account',
  ]) {
    await newcomer.go(path)
    await assertAccessible(newcomer.page, `${path} without anything`)
  }
  for (const [path, button] of [
    ['/events', 'Make an event'],
    ['/events', 'Resend matching'],
    ['/keys', 'New key'],
    ['/balances', 'Let funds arrive'],
  ] as const) {
    await newcomer.open(path)
    await newcomer.page.getByRole('button', { name: button }).click()
    await newcomer.page.getByRole('dialog').waitFor()
    await assertAccessible(newcomer.page, `the dialog ${button}`)
  }
  newcomer.assertFine()
  await newcomer.close()
})

test('the console can be used with the keyboard alone', async () => {
  const visitor = await visit(browser, service)
  const { page } = visitor
  await page.keyboard.press('Control+k')
  await page.keyboard.type('events')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { level: 1, name: 'Events' }).waitFor()
  await settled(page)
  assert.equal(await page.evaluate('document.activeElement.tagName'), 'H1', 'the heading has the focus')
  await page.getByRole('table').getByRole('link').first().focus()
  await page.keyboard.press('ArrowDown')
  const second = await page.evaluate(
    `document.activeElement.closest('tr') === document.querySelectorAll('tbody tr')[1]`,
  )
  assert.equal(second, true, 'the arrow goes to the next row')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Attempts' }).waitFor()
  await page.keyboard.press('Control+k')
  await page.keyboard.type(ids.open)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Confirm this withdrawal' }).waitFor()
  await page.getByRole('button', { name: 'Confirm', exact: true }).press('Enter')
  await page.getByRole('dialog').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  visitor.assertFine()
  await visitor.close()
})

test('times are local, with UTC on hover; ids and calls can be copied', async () => {
  const visitor = await visit(browser, service, { permissions: ['clipboard-read', 'clipboard-write'] })
  const { page } = visitor
  await visitor.open(`/events/${ids.goodEvent}`)
  await settled(page)
  const time = page.getByRole('complementary').locator('time').first()
  const at = new Date((await time.getAttribute('datetime'))!)
  assert.equal(await time.getAttribute('title'), `${at.toISOString().replace('T', ' ').replace('Z', '')} UTC`)
  const local = new Intl.DateTimeFormat('en-GB', {
    dateStyle: 'medium',
    timeStyle: 'medium',
    timeZone: 'America/Argentina/Buenos_Aires',
  })
  assert.equal(await time.textContent(), local.format(at))
  await page.getByRole('button', { name: 'Copy event id' }).click()
  assert.equal(await page.evaluate('navigator.clipboard.readText()'), ids.goodEvent)
  await page.getByRole('button', { name: 'Copy as curl' }).click()
  const command = await page.evaluate('navigator.clipboard.readText()')
  assert.equal(
    command,
    `curl '${service.url}/v1/webhooks/events/${ids.goodEvent}' \\\n  -H "Authorization: Bearer $PARTNER_KEY"`,
  )
  visitor.assertFine()
  await visitor.close()
})

test('the first load weighs less than 350 KB compressed', async () => {
  const visitor = await visit(browser, service, { secret: null })
  const { page } = visitor
  const network = await page.context().newCDPSession(page)
  await network.send('Network.enable')
  const sizes = new Map<string, number>()
  const urls = new Map<string, string>()
  network.on('Network.responseReceived', ({ requestId, response }) => urls.set(requestId, response.url))
  network.on('Network.loadingFinished', ({ requestId, encodedDataLength }) =>
    sizes.set(urls.get(requestId) ?? requestId, encodedDataLength),
  )
  await visitor.open('/')
  await page.getByLabel('API key', { exact: true }).fill(service.demoSecret)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  await settled(page)
  const total = [...sizes.values()].reduce((sum, size) => sum + size, 0)
  const names = [...sizes.keys()].map((url) => new URL(url).pathname)
  assert.ok(
    names.some((name) => name.endsWith('.js')) && names.some((name) => name.endsWith('.woff2')),
    'it was measured',
  )
  assert.ok(total > 50_000 && total < 350_000, `it weighs ${total} bytes`)
  console.log(
    `first load, with the first answers of the API: ${Math.round(total / 1_000)} KB in ${sizes.size} responses`,
  )
  await visitor.close()
})
