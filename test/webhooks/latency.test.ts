// Percentiles out of buckets: right to within a bucket's width, whatever the durations are and however they were counted together.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { addCounts, bucketEnds, bucketOf, percentiles } from '../../src/webhooks/latency.ts'

const durations = fc.array(fc.integer({ min: 0, max: 130_000 }), { minLength: 1, maxLength: 300 })

function countsOf(values: readonly number[]): number[] {
  const counts = new Array<number>(bucketEnds.length).fill(0)
  for (const value of values) counts[bucketOf(value)]!++
  return counts
}

test('a duration lies in the bucket that it is counted in', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 200_000 }), (value) => {
      const bucket = bucketOf(value)
      assert.ok(value <= bucketEnds[bucket]! || bucket === bucketEnds.length - 1)
      assert.ok(bucket === 0 || value > bucketEnds[bucket - 1]!)
    }),
  )
})

test('a percentile is off by no more than a quarter, or a millisecond', () => {
  fc.assert(
    fc.property(durations, (values) => {
      const sorted = values.toSorted((a, b) => a - b)
      const { p50, p90, p99 } = percentiles(countsOf(values))!
      for (const [share, found] of [
        [0.5, p50],
        [0.9, p90],
        [0.99, p99],
      ] as const) {
        const exact = sorted[Math.ceil(share * sorted.length) - 1]!
        assert.ok(Math.abs(found - exact) <= exact * 0.25 + 1, `p${share * 100} is ${exact}, found ${found}`)
      }
    }),
  )
})

test('counts of several processes add up to those of one', () => {
  fc.assert(
    fc.property(durations, durations, (some, others) => {
      const sum: number[] = []
      addCounts(sum, countsOf(some))
      addCounts(sum, countsOf(others))
      assert.deepEqual(sum, countsOf([...some, ...others]))
    }),
  )
})

test('without durations there are no percentiles', () => {
  assert.equal(percentiles([]), null)
  assert.equal(percentiles(countsOf([])), null)
})
