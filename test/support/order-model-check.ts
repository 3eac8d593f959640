// Holds what the service shows and what its database holds against a world of the model: orders, balances, entries, postings,
// and for every change exactly its events.
import assert from 'node:assert/strict'
import type { Body } from './client.ts'
import type { Entry, World } from './order-model.ts'
import { type Currency, decimalsOf, shown as written } from './order-model-money.ts'
import { plain, view } from './order-model-views.ts'

// What the API shows in the end, and what it answered on the way.
export interface Shown {
  readonly orders: readonly Body[]
  readonly accounts: readonly Body[]
  readonly replies: { id: string; order: Body }[]
  readonly byTheRail: boolean // whether orders are settled by themselves
}

export interface Books {
  readonly accounts: readonly Record<'partner' | 'currency' | (typeof columns)[number], string>[]
  readonly entries: readonly Record<'partner' | 'currency' | 'kind' | 'order' | 'available' | 'held', string>[] // oldest first
  readonly postings: readonly Record<'partner' | 'currency' | 'entry' | 'account' | 'amount', string>[]
  readonly events: readonly Record<'partner' | 'action' | 'payload', string>[]
  readonly backwards: readonly { readonly partner: string }[] // orders whose times are not in the order of what happened
}

export const columns = ['available', 'held', 'fees', 'payouts', 'topUps'] as const
const nameOf = { available: 'available', held: 'held', fees: 'fees', payouts: 'payouts', topUps: 'top_ups' } as const

export function checkShown(world: World, { orders, accounts }: Shown): void {
  const byId = (list: Body[]) => Object.fromEntries(list.map((order) => [order.id, order]))
  const expected = byId(Object.values(world.orders).map(view))
  assert.deepEqual(byId(orders.map(plain)), expected, 'orders are what the model says')
  const balances = Object.entries(world.accounts).map(([place, { available, held }]) => {
    const [partner, currency] = place.split(' ') as [string, Currency]
    const text = (minor: bigint) => written(minor, currency, `0.${'0'.repeat(decimalsOf[currency])}`)
    return `${partner} ${currency} ${text(available)} ${text(held)}`
  })
  const shown = accounts.map((each) => `${each.partner} ${each.currency} ${each.available} ${each.held}`)
  assert.deepEqual(shown.sort(), balances.sort(), 'balances are what the model says')
}

export function checkBooks(world: World, { orders, replies, byTheRail }: Shown, books: Books): void {
  const modelId = new Map(orders.map((order) => [order.id as string, plain(order).id as string]))
  const places = Object.keys(world.accounts).sort()
  const placeOf = ({ partner, currency }: { partner: string; currency: string }) => `${partner} ${currency}`
  assert.deepEqual(books.accounts.map(placeOf).sort(), places, 'accounts of the model')
  for (const place of places) {
    const currency = place.split(' ')[1] as Currency
    const minor = (text: string) => signedMinor(text, currency)
    const account = world.accounts[place]!
    const model = Object.fromEntries(columns.map((column) => [column, account[column]]))
    const row = books.accounts.find((each) => placeOf(each) === place)!
    const kept = Object.fromEntries(columns.map((column) => [column, minor(row[column])]))
    assert.deepEqual(kept, model, 'the balances that are kept')
    const postings = books.postings.filter((each) => placeOf(each) === place)
    const summed = columns.map((column) => [
      column,
      sum(postings.filter((each) => each.account === nameOf[column]).map((each) => minor(each.amount))),
    ])
    assert.deepEqual(Object.fromEntries(summed), model, 'the postings sum to the balances')
    assert.equal(sum(postings.map((each) => minor(each.amount))), 0n, 'the postings of a partner sum to zero')
    const entries = books.entries
      .filter((each) => placeOf(each) === place)
      .map(({ kind, order, available, held }) => ({
        kind,
        order: modelId.get(order)!,
        available: minor(available),
        held: minor(held),
      }))
    checkEntries(entries, account.entries, byTheRail)
    const byEntry = Map.groupBy(postings, (each) => each.entry)
    assert.equal(byEntry.size, entries.length, 'every entry has postings')
    for (const each of byEntry.values())
      assert.equal(sum(each.map(({ amount }) => minor(amount))), 0n, 'an entry sums to zero')
  }
  assert.deepEqual(books.backwards, [], 'the times of an order only go forward')
  checkEvents(world, { orders, replies }, books.events)
}

// A rail that works by itself settles orders in whatever order it finds them.
function checkEntries(entries: readonly Entry[], expected: readonly Entry[], byTheRail: boolean): void {
  const lines = (list: readonly Entry[]) => list.map(({ kind, order }) => `${kind} ${order}`).sort()
  if (byTheRail) assert.deepEqual(lines(entries), lines(expected), 'the entries of the account')
  else assert.deepEqual(entries, expected, 'the entries of the account')
}

function checkEvents(
  world: World,
  { orders, replies }: Pick<Shown, 'orders' | 'replies'>,
  events: Books['events'],
): void {
  const told = events.map(({ partner, action, payload }) => {
    const event = JSON.parse(payload)
    assert.equal(event.action, action)
    return { partner, action, order: event.partner_order as Body }
  })
  const line = (partner: string, action: string, order: object) => `${partner} ${action} ${canonical(order)}`
  assert.deepEqual(
    told.map(({ partner, action, order }) => line(partner, action, plain(order))).sort(),
    Object.values(world.orders)
      .flatMap((order) => order.told.map(({ action, view }) => line(order.partner, action, view)))
      .sort(),
    'every change has its events, and no event is without a change',
  )
  const byOrder = Map.groupBy(told, ({ order }) => plain(order).id as string)
  const isTold = (id: string, order: Body) =>
    byOrder.get(id)?.some((each) => canonical(each.order) === canonical(order))
  for (const { id, order } of replies)
    assert.ok(isTold(id, order), `an event carries what was answered: ${canonical(order)}`)
  for (const order of orders) {
    const id = plain(order).id as string
    // A return or an end is told of with the order as it then is; only the time to confirm was moved by hand without a word.
    assert.ok(isTold(id, order), `the last event carries what details show: ${canonical(order)}`)
    assert.ok(order.created_at <= order.last_updated_at, `time goes forward: ${canonical(order)}`)
    if (order.processed_at)
      assert.ok(order.created_at <= order.processed_at && order.processed_at <= order.last_updated_at)
    if (order.closed_at) assert.equal(order.closed_at, order.last_updated_at)
    for (const { order: before } of byOrder.get(id) ?? []) {
      assert.equal(before.created_at, order.created_at)
      assert.ok(before.last_updated_at <= order.last_updated_at, 'no event is from after the last change')
      if (before.processed_at) assert.equal(before.processed_at, order.processed_at)
    }
  }
}

function signedMinor(text: string, currency: Currency): bigint {
  const [whole = '', fraction = ''] = text.replace('-', '').split('.')
  const units = BigInt(whole + fraction.padEnd(decimalsOf[currency], '0'))
  return text.startsWith('-') ? -units : units
}

function sum(all: readonly bigint[]): bigint {
  return all.reduce((total, each) => total + each, 0n)
}

function canonical(value: unknown): string {
  const sorted = (_: string, each: unknown) =>
    typeof each === 'object' && each !== null
      ? Object.fromEntries(Object.entries(each).sort(([a], [b]) => (a < b ? -1 : 1)))
      : each
  return JSON.stringify(value, sorted)
}
