// How many quick attempts are under way at once follows how busy this process is. Without a database or a network; costs nothing.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPace } from '../../src/delivery/pace.ts'

test('while there is time to spare and something is held back, more are let go, up to the whole window', () => {
  const pace = createPace(1_000, () => 0.3)
  const first = pace.limit()
  pace.adjust(false)
  assert.equal(pace.limit(), first, 'nothing was held back')
  for (let i = 0; i < 50; i++) pace.adjust(true)
  assert.equal(pace.limit(), 1_000)
})

test('a busy process lets go of fewer, but never of too few to keep itself busy', () => {
  let utilization = 0.3
  const pace = createPace(1_000, () => utilization)
  for (let i = 0; i < 50; i++) pace.adjust(true)
  utilization = 0.99
  pace.adjust(true)
  assert.equal(pace.limit(), 900)
  for (let i = 0; i < 50; i++) pace.adjust(true)
  assert.equal(pace.limit(), 64)
})
