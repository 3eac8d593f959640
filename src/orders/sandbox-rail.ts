// The sandbox rail: pays nobody, but behaves like a bank. A confirmed order is taken at once and settled two seconds later;
// amounts ending in .01 fail, in .02 stall, in .03 are returned after completion. What is due stands in the order itself, so it
// goes on after a crash where it was.
import type { Tx } from '../db/db.ts'
import type { Actor } from '../partners/audit.ts'
import { leaveRail, lockDueForRail } from './job-queries.ts'
import { changeOrder, returnWithdrawal } from './orders.ts'

export const sandboxRail: Actor = { kind: 'system', id: 'sandbox-rail', name: 'sandbox rail', requestId: null }
const settlesAfterMs = 2_000

// One step of one order; false when none is due.
export async function stepSandboxRail(tx: Tx): Promise<boolean> {
  const order = await lockDueForRail(tx)
  if (!order) return false
  const { partnerId, id, state, amount } = order
  const change = (trigger: 'take' | 'complete' | 'fail', railInMs?: number) =>
    changeOrder(tx, sandboxRail, partnerId, id, trigger, railInMs === undefined ? {} : { railInMs })
  if (state === 'pending') await change('take', settlesAfterMs)
  else if (state === 'processing' && amount.endsWith('.01')) await change('fail')
  else if (state === 'processing' && amount.endsWith('.03')) await change('complete', settlesAfterMs)
  else if (state === 'processing' && !amount.endsWith('.02')) await change('complete')
  else {
    if (state === 'completed') await returnWithdrawal(tx, sandboxRail, partnerId, id)
    await leaveRail(tx, order)
  }
  return true
}
