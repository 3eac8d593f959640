// Every page of the operator's console is accessible, fits every width, and causes no error.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startConsoleSite } from '../support/console-site.ts'
import { assertAccessible, settled, startBrowser, visit } from '../support/visitor.ts'
import { lookAtPages } from './pages.ts'

const site = await startConsoleSite({ after })
const browser = await startBrowser({ after })
const { ids, service } = site

test('every page is accessible in light and dark, and fits from 360 to 1920 pixels', async () => {
  await lookAtPages(browser, site, 'operator', {
    delivery: '/',
    partners: '/partners',
    partner: `/partners/${ids.partner}`,
    configuration: `/partners/${ids.partner}/configuration`,
    versions: `/partners/${ids.partner}/versions`,
    orders: '/orders',
    order: `/orders/${ids.waiting}`,
    reconciliation: '/reconciliation',
    'audit-log': '/audit-log',
    'signing-keys': '/signing-keys',
    tokens: '/tokens',
  })
})

test('dialogs are accessible, and an operator who may only read can change nothing', async () => {
  const { body: token } = await service.operator.post('/tokens', { name: 'Reader', roles: ['read'] })
  const reader = await visit(browser, service, { as: 'operator', secret: token.secret })
  await reader.open(`/partners/${ids.partner}`)
  await reader.page.getByRole('button', { name: 'Suspend' }).press('Enter')
  await reader.page.getByText('This operator token lacks the role support.').waitFor()
  assert.equal(await reader.page.getByRole('dialog').count(), 0)
  await reader.open(`/partners/${ids.partner}/configuration`)
  await reader.page.getByText('You can read this, not write it').waitFor()
  assert.ok(!(await reader.page.getByLabel('Configuration as JSON').isEditable()))
  await reader.open('/tokens')
  await reader.page.getByText('This operator token lacks the role admin.').waitFor()
  reader.assertFine()
  await reader.close()

  const admin = await visit(browser, service, { as: 'operator' })
  for (const [path, button] of [
    ['/partners', 'New partner'],
    [`/partners/${ids.partner}`, 'Suspend'],
    [`/partners/${ids.partner}`, 'Credit funds'],
    ['/signing-keys', 'Rotate'],
    ['/tokens', 'New token'],
  ] as const) {
    await admin.open(path)
    await settled(admin.page)
    await admin.page.getByRole('button', { name: button, exact: true }).click()
    await admin.page.getByRole('dialog').waitFor()
    await assertAccessible(admin.page, `the dialog ${button}`)
  }
  await admin.page.keyboard.press('Escape')
  await admin.open('/signing-keys')
  await admin.page.getByRole('button', { name: 'Rotate', exact: true }).click()
  await admin.page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click()
  await admin.page.getByText('Next', { exact: true }).waitFor()
  admin.assertFine()
  await admin.close()
})
