// The operator's commands about money: what they print for people and for programs, and their exit codes. About 10 s, because
// each command is a process of its own.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { after, test } from 'node:test'
import { open } from '../db/open.ts'
import { createDatabase } from '../support/database.ts'
import { balance, confirmedOrder, createOrder, newOrderPartner } from '../support/orders.ts'
import { startTestService, type TestService } from '../support/service.ts'

const database = await createDatabase()
after(database.remove)
const environment = { PAYOUT_RAIL: 'operator' }
const service = await startTestService({ after }, { database, environment })
const partner = await newOrderPartner(service, { funds: '10000.00' })

test('a top-up is credited once for each reference, and needs one', async () => {
  const args = ['top-ups', 'create', partner.id, 'ARS', '250.50']
  const first = await run(...args, '--reference', 'transfer-1')
  assert.equal(first.code, 0, first.errors)
  assert.match(first.output, /^operation +top_up\nstate +completed\namount +250\.50 ARS\nreference_id +transfer-1$/m)
  const again = await run(...args, '--reference', 'transfer-1')
  assert.deepEqual([again.code, again.output], [1, ''])
  assert.match(again.errors, /^conflict: reference_id was used by an earlier top-up/)
  const without = await run(...args)
  assert.equal(without.code, 2)
  assert.match(
    without.errors,
    /^--reference is missing\. Expected: partner-service top-ups create .* --reference VALUE$/m,
  )
  assert.deepEqual(await balance(partner.api), ['10250.50', '0.00'])
})

test('a payout is listed, taken, shown with its destination, completed and returned', async () => {
  const { id } = await confirmedOrder(partner, '1000.00')
  const listed = await run('orders', 'list', '--state', 'pending', '--partner', partner.id)
  assert.equal(listed.code, 0, listed.errors)
  const [heading, ...rows] = listed.output.trimEnd().split('\n')
  assert.match(heading!, /^ID +STATE +OPERATION +AMOUNT +PARTNER_ID +CREATED_AT$/)
  assert.deepEqual(
    rows.map((row) => row.split(/\s{2,}/).slice(0, 5)),
    [[id, 'pending', 'withdrawal', '1000.00 ARS', partner.id]],
  )

  const taken = await run('orders', 'take', id)
  assert.equal(taken.code, 0, taken.errors)
  const payoutId = /^payout_id +(pay_\w{26})$/m.exec(taken.output)?.[1]
  assert.ok(payoutId, taken.output)
  assert.match((await run('orders', 'take', id)).output, new RegExp(payoutId), 'may be asked again')
  assert.match(
    taken.output,
    /^fee_amount +55\.00\ndestination_amount +945\.00\ndestination +ar_cbu\n {2}cbu +2850590940090418135201\n {2}holder_name +Ada Lovelace$/m,
  )

  assert.match((await run('orders', 'complete', id)).output, /^state +completed$/m)
  const failed = await run('orders', 'fail', id)
  assert.deepEqual(
    [failed.code, failed.errors],
    [1, 'invalid_order_state: The order cannot be failed: it is completed.\n'],
  )
  const returned = await run('orders', 'return', id)
  assert.match(returned.output, new RegExp(`^operation +withdrawal_return$[^]*^returned_order +${id}$`, 'm'))
  const shown = JSON.parse((await run('orders', 'show', id, '--json')).output)
  assert.deepEqual(shown, (await service.operator.get(`/orders/${id}`)).body)
})

test('an order is released, taken again under the same payout id, failed; another is cancelled', async () => {
  const [{ id }, other] = [await confirmedOrder(partner), await confirmedOrder(partner)]
  const payoutId = JSON.parse((await run('orders', 'take', id, '--json')).output).payout_id
  assert.match((await run('orders', 'release', id)).output, /^state +pending$/m)
  assert.equal(JSON.parse((await run('orders', 'take', id, '--json')).output).payout_id, payoutId)
  assert.match((await run('orders', 'fail', id)).output, /^state +cancelled\nstate_reason +payout_failed$/m)
  assert.match((await run('orders', 'cancel', other.id)).output, /^state_reason +cancelled_by_operator$/m)
  assert.equal((await run('orders', 'show', 'ord_nothing')).errors, 'not_found: There is no such order.\n')
})

test('a list ends at its limit and says so', async () => {
  for (const _ of [1, 2, 3]) await createOrder(partner)
  const two = await run('orders', 'list', '--partner', partner.id, '--limit', '2', '--json')
  assert.equal(JSON.parse(two.output).length, 2)
  assert.match(two.errors, /^There are more than 2/)
  const waiting = await run('orders', 'list', '--state', 'awaiting_confirmation', '--partner', partner.id, '--json')
  assert.deepEqual([JSON.parse(waiting.output).length, waiting.errors], [3, ''])
  assert.match((await run('orders', 'list', '--limit', 'all')).errors, /^--limit must be a whole number/)
  assert.match((await run('orders', 'list', '--state', 'lost')).errors, /^invalid_parameters: .*state/)
})

test('reconcile ends with 0 when everything agrees, and with 1 when somebody tampered with a balance', async () => {
  const agrees = await run('reconcile')
  assert.equal(agrees.code, 0, agrees.output)
  assert.match(agrees.output, /^partners +2\naccounts +\d+\nentries +\d+\npostings +\d+\norders +\d+\nagrees +yes\n$/)

  await service.stop()
  const db = await open(database)
  await db.query(
    `update settlement_accounts set available = available + 1, payouts = payouts - 1 where partner_id = $1`,
    [partner.id],
  )
  await db.close()
  const later = await startTestService({ after }, { database, environment })
  const differs = await runOn(later, 'reconcile')
  assert.equal(differs.code, 1)
  assert.match(
    differs.output,
    /^agrees +NO\nPARTNER_ID +CURRENCY +ORDER_ID +ENTRY +PROBLEM\nptr_\w+ +ARS +- +- +the account says /m,
  )
  const report = await runOn(later, 'reconcile', '--json')
  assert.equal(report.code, 1)
  assert.deepEqual(JSON.parse(report.output), (await later.operator.get('/reconciliation')).body)
})

function run(...args: string[]) {
  return runOn(service, ...args)
}

async function runOn({ operatorUrl, operatorToken }: TestService, ...args: string[]) {
  const child = spawn(process.execPath, ['src/main.ts', ...args], {
    env: { PATH: process.env.PATH ?? '', OPERATOR_URL: operatorUrl, OPERATOR_TOKEN: operatorToken },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [output, errors] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (chunk) => (output += chunk))
  child.stderr.setEncoding('utf8').on('data', (chunk) => (errors += chunk))
  const [code] = await once(child, 'close')
  return { code, output, errors }
}
