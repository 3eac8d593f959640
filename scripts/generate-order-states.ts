// docs/order-states.md: the table that orders go by, as a picture and as a table. What the code calls its triggers and entries is
// put into words here, and the compiler asks for the words when one is added.
import { type EntryKind, orderStates, type Transition, type Trigger, transitions } from '../src/orders/states.ts'

const happens: Record<Trigger, string> = {
  confirm: 'it is confirmed',
  cancel: 'it is cancelled',
  cancel_by_operator: 'the operator cancels it',
  expire: 'its time to confirm is over',
  take: 'the rail takes it',
  release: 'the operator releases it',
  complete: 'the bank has paid',
  fail: 'the bank has refused',
}

const actors: Record<Transition['by'], string> = {
  partner: 'the partner',
  operator: 'the operator',
  rail: 'the rail',
  time: 'the service',
}

const money: Record<EntryKind, string> = {
  hold: '`hold`: the amount goes from available to held',
  release: '`release`: the amount goes back to available',
  payout: '`payout`: the held amount leaves, as payout and fee',
  top_up: '`top_up`: the amount becomes available',
  return: '`return`: what had been paid becomes available',
}

export function orderStatesPage(generated: string): string {
  const ends = orderStates.filter((state) => !transitions.some(({ from }) => from === state))
  const arrows = transitions.map(({ trigger, from, to }) => `  ${from} --> ${to}: ${happens[trigger]}`)
  const rows = transitions.map(
    ({ trigger, by, from, to, reason, entry, event }) =>
      `| \`${from}\` | ${happens[trigger]} | ${actors[by]} | \`${to}\` | ${reason ? `\`${reason}\`` : ''} | ${entry ? money[entry] : 'nothing'} | \`${event}\` |`,
  )
  return `${generated}
# Order states

What may happen to a withdrawal, and nothing else may: the service itself goes by this table. [Orders](orders.md) explains it.

\`\`\`mermaid
stateDiagram-v2
  [*] --> ${orderStates[0]}: it is created
${arrows.join('\n')}
${ends.map((state) => `  ${state} --> [*]`).join('\n')}
\`\`\`

| In | When | Done by | It becomes | \`state_reason\` | Settlement account | Event |
| --- | --- | --- | --- | --- | --- | --- |
| | it is created | the partner | \`${orderStates[0]}\` | | nothing | \`partner-order-created\` |
${rows.join('\n')}

Orders that credit the account are \`completed\` from the beginning, and both \`partner-order-created\` and \`partner-order-closed\` tell
of them:

| Operation | When | Settlement account |
| --- | --- | --- |
| \`top_up\` | funds arrived | ${money.top_up} |
| \`withdrawal_return\` | the bank sent a completed payout back | ${money.return}; the fee stays |

The source of this page is \`src/orders/states.ts\`.
`
}
