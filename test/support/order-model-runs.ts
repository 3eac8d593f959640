// Runs many sequences, several at a time, with fast-check: the seed is printed when one fails, and that one is made as short as
// it can be. MODEL_SEED and MODEL_PATH, as printed, run it again.
import fc from 'fast-check'
import type { Sequence } from './order-model-sequences.ts'

export interface Runs {
  readonly count: number
  readonly atOnce: number
  readonly shrink: boolean // what depends on chance beside the seed cannot be made shorter
}

export async function runSequences(
  arbitrary: fc.Arbitrary<Sequence>,
  { count, atOnce, shrink }: Runs,
  run: (sequence: Sequence) => Promise<void>,
): Promise<void> {
  const path = process.env.MODEL_PATH
  const seed = Number(process.env.MODEL_SEED ?? Math.floor(Math.random() * 2 ** 31))
  let failing: number | undefined // the one that failed first has the machine for itself
  const runner = async (index: number) => {
    const property = fc.asyncProperty(arbitrary, async (sequence) => {
      if (failing !== undefined && failing !== index) return
      try {
        await run(sequence)
      } catch (error) {
        if (failing === undefined) {
          failing = index
          process.stderr.write(
            `a sequence failed (MODEL_SEED=${seed + index}) and is made shorter now: ${(error as Error).message}\n`,
          )
        }
        if (failing === index) throw error
      }
    })
    await fc.assert(property, {
      seed: seed + index,
      ...(path === undefined ? {} : { path }),
      numRuns: Math.ceil(count / atOnce),
      endOnFailure: !shrink,
      interruptAfterTimeLimit: 4 * 60_000,
      markInterruptAsFailure: true,
    })
  }
  await Promise.all(Array.from({ length: path === undefined ? atOnce : 1 }, (_, index) => runner(index)))
}
