// What a partner and an operator do about money and configuration, walked in a real browser: a withdrawal from the destination to the
// payout, and a configuration that the operator edits and the partner then sees.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startEndpoint } from '../support/endpoint.ts'
import { balance, validCbu } from '../support/orders.ts'
import { subscribe } from '../support/partner.ts'
import { startTestService } from '../support/service.ts'
import { startBrowser, visit } from '../support/visitor.ts'

const service = await startTestService({ after }, { environment: { PAYOUT_RAIL: 'operator' } })
const browser = await startBrowser({ after })

test('a withdrawal: a destination with a wrong digit is refused, the summary is confirmed, the operator pays, the partner sees it happen', async (t) => {
  const endpoint = await startEndpoint(t)
  const events = ['partner-order-created', 'partner-order-updated', 'partner-order-closed']
  await subscribe(service.partner, endpoint.url, { events })
  const [before] = await balance(service.partner)
  const visitor = await visit(browser, service)
  const { page } = visitor
  await page.getByRole('link', { name: 'Orders', exact: true }).click()
  await page.getByRole('link', { name: 'New withdrawal' }).first().click()
  await page.getByRole('button', { name: 'New destination' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('CBU', { exact: true }).fill(validCbu.replace(/1$/, '2'))
  await dialog.getByLabel('Holder name').fill('Ada Lovelace')
  await dialog.getByRole('button', { name: 'Create destination' }).click()
  await dialog.getByText('The check digits of this CBU or CVU are wrong.').waitFor()
  await dialog.getByLabel('CBU', { exact: true }).fill(validCbu)
  await dialog.getByRole('button', { name: 'Create destination' }).click()
  await dialog.waitFor({ state: 'detached' })

  await page.getByLabel('Amount in ARS').fill('99999999.00')
  await page.getByText(/^More than the .* ARS available\.$/).waitFor()
  await page.getByLabel('Amount in ARS').fill('10000.00')
  await page.getByLabel('Your reference').fill('console-1')
  await page.getByRole('button', { name: 'Continue' }).click()

  await page.getByRole('heading', { name: 'Confirm this withdrawal' }).waitFor()
  await page.getByText('9,900.00 ARS').first().waitFor()
  assert.equal((await balance(service.partner))[0], before, 'nothing moved before the confirmation')
  await page.getByRole('button', { name: 'Confirm', exact: true }).click()
  await page.getByRole('dialog').getByText(validCbu).first().waitFor()
  await page.getByRole('dialog').getByRole('button', { name: 'Confirm and pay' }).click()
  await page.getByText('Pending', { exact: true }).first().waitFor()
  assert.deepEqual(await balance(service.partner), ['990000.00', '10000.00'])

  const operator = await visit(browser, service, { as: 'operator' })
  await operator.page.getByRole('link', { name: 'Orders', exact: true }).click()
  await operator.page.getByRole('link', { name: 'Withdrawal' }).click()
  await operator.page.getByRole('button', { name: 'Take' }).click()
  await operator.page.getByRole('dialog').getByRole('button', { name: 'Take' }).click()
  await operator.page.getByText(/^pay_/).waitFor()
  await page.getByText('Processing', { exact: true }).first().waitFor()
  await operator.page.getByRole('button', { name: 'Complete' }).click()
  await operator.page.getByRole('dialog').getByRole('button', { name: 'Complete' }).click()

  const timeline = page.getByRole('list').filter({ has: page.getByText('Awaiting confirmation') })
  await timeline.getByText('Completed', { exact: true }).waitFor()
  await timeline.getByRole('link', { name: 'partner-order-closed' }).waitFor()
  await page.getByRole('link', { name: 'Balances', exact: true }).click()
  await page.getByRole('link', { name: /^ARS/ }).click()
  await page.getByRole('row', { name: /Paid out/ }).waitFor()

  await operator.page.getByRole('link', { name: 'Reconciliation' }).click()
  await operator.page.getByRole('button', { name: 'Reconcile now' }).click()
  await operator.page.getByText('The books agree').waitFor()
  for (const each of [visitor, operator]) {
    each.assertFine()
    await each.close()
  }
})

test('an answer that gets lost makes no second order: pressing again finds the first', async () => {
  const visitor = await visit(browser, service)
  visitor.forgive(/ERR_FAILED/)
  const { page } = visitor
  let reached = 0
  await page.route('**/v1/partner/orders', async (route) => {
    if (route.request().method() !== 'POST') return route.fallback()
    const answer = await route.fetch()
    if (++reached === 1) await route.abort()
    else await route.fulfill({ response: answer })
  })
  await page.getByRole('link', { name: 'Orders', exact: true }).click()
  await page.getByRole('link', { name: 'New withdrawal' }).first().click()
  await page.getByLabel('Amount in ARS').fill('1234.00')
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('alert').first().waitFor()
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('heading', { name: 'Confirm this withdrawal' }).waitFor()
  const { body } = await service.partner.get('/partner/orders?limit=100')
  assert.equal(reached, 2)
  assert.equal(
    body.orders.filter((each: { withdrawal?: { amount: string } }) => each.withdrawal?.amount === '1234.00').length,
    1,
  )
  visitor.assertFine()
  await visitor.close()
})

test('an operator edits a configuration: mistakes are shown at their line, the change as a difference, and the partner sees it', async () => {
  const operator = await visit(browser, service, { as: 'operator' })
  const { page } = operator
  operator.forgive(/status of 400/)
  await page.getByRole('link', { name: 'Partners', exact: true }).click()
  await page.getByRole('link', { name: 'Demo Partner' }).click()
  await page.getByRole('link', { name: 'Configuration', exact: true }).click()
  const editor = page.getByLabel('Configuration as JSON')
  const text = await editor.inputValue()

  await editor.fill(text.replace('"kyc_mode": "partner_collect"', '"kyc_mode": "nobody"'))
  await page.getByText('kyc_mode must be one of no_kyc, partner_collect, service_collect (line 4)').waitFor()
  assert.ok(await page.getByRole('button', { name: 'Review and write' }).isDisabled())
  await editor.fill(text.replace('"kyc_mode":', '"kyc_mode"'))
  await page.getByText('Line 4: ":" is expected').waitFor()
  // What only the service knows is refused by the service, and shown at its line all the same.
  await editor.fill(text.replace('"id": "ETH"', '"id": "BTC"'))
  await page.getByRole('button', { name: 'Review and write' }).click()
  await page.getByRole('button', { name: 'Write', exact: true }).click()
  await page.getByText(/repeats BTC/).waitFor()
  await page.getByText(/^That is line \d+\.$/).waitFor()

  await editor.fill(text.replace('"name": "Demo Partner"', '"name": "Renamed Partner"'))
  await page.getByRole('button', { name: 'Review and write' }).click()
  await page.getByRole('dialog').getByText('Renamed Partner').waitFor()
  await page.getByRole('button', { name: 'Write', exact: true }).click()
  await page.getByText('Written as version 2.').waitFor()
  await page.getByRole('link', { name: 'Versions' }).click()
  await page.getByRole('region', { name: 'From version 1 to 2' }).getByText('Renamed Partner').waitFor()

  const partner = await visit(browser, service)
  await partner.page.getByRole('link', { name: 'Configuration', exact: true }).click()
  await partner.page.getByRole('heading', { level: 1, name: 'Renamed Partner' }).waitFor()
  for (const each of [operator, partner]) {
    each.assertFine()
    await each.close()
  }
})

test('what somebody else wrote meanwhile is not overwritten', async () => {
  const { body: partner } = await service.operator.post('/partners', { name: 'Contended' })
  const operator = await visit(browser, service, { as: 'operator' })
  operator.forgive(/status of 409/)
  await operator.open(`/partners/${partner.id}/configuration`)
  const editor = operator.page.getByLabel('Configuration as JSON')
  const text = await editor.inputValue()
  await service.operator.put(`/partners/${partner.id}/configuration`, {
    ...JSON.parse(text),
    kyc_mode: 'service_collect',
  })
  await editor.fill(text.replace('Contended', 'Mine'))
  await operator.page.getByRole('button', { name: 'Review and write' }).click()
  await operator.page.getByRole('button', { name: 'Write', exact: true }).click()
  await operator.page.getByText('Somebody else has written it meanwhile').waitFor()
  const { body: now } = await service.operator.get(`/partners/${partner.id}/configuration`)
  assert.deepEqual([now.name, now.kyc_mode], ['Contended', 'service_collect'])
  operator.assertFine()
  await operator.close()
})

test('an operator makes a key and a sign-in link; the link signs in once, and only when its button is pressed', async () => {
  const { body: made } = await service.operator.post('/partners', { name: 'Linked' })
  const operator = await visit(browser, service, { as: 'operator' })
  const { page } = operator
  await operator.open(`/partners/${made.id}`)
  await page.getByRole('button', { name: 'New key' }).click()
  await page.getByLabel('Name').fill('for the link')
  await page.getByRole('checkbox', { name: /^partner:read/ }).check()
  await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click()
  await page.getByRole('region', { name: 'Secret' }).getByText(/^psk_/).waitFor()
  await page.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('button', { name: 'Sign-in link for for the link' }).click()
  const shown = await page.getByRole('region', { name: 'Sign-in link' }).textContent()
  const token = /#link=(\S+)/.exec(shown ?? '')![1]!

  const first = await visit(browser, service, { secret: null })
  await first.open(`/#link=${token}`)
  await first.page.getByText('It works once.').waitFor()
  assert.ok(!first.page.url().includes(token), 'the token left the address')
  await first.page.getByRole('button', { name: 'Sign in' }).click()
  await first.page.getByRole('heading', { level: 1, name: 'Linked' }).waitFor()

  const second = await visit(browser, service, { secret: null })
  second.forgive(/status of 401/)
  await second.open(`/#link=${token}`)
  await second.page.getByRole('button', { name: 'Sign in' }).click()
  await second.page.getByText('The sign-in link was used, has expired, or its API key is gone.').waitFor()
  for (const each of [operator, first, second]) {
    each.assertFine()
    await each.close()
  }
})
