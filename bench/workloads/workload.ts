// A workload: contenders measured in turn, round after round, in one run. What is reported is the median of the rounds.
import type { Stage } from '../lib/stage.ts'

export type Figures = Readonly<Record<string, number>>

export interface Workload {
  readonly name: string
  readonly title: string
  readonly contenders: readonly string[]
  readonly rounds: number
  measure(stage: Stage, contender: string): Promise<Figures>
}
