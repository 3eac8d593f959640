// What the rooms of the service share: nothing else is passed around everywhere, and nothing is global.
import type { Logger } from 'pino'
import type { Config } from './config.ts'
import type { Db } from './db/db.ts'
import type { Metrics } from './metrics.ts'

export interface Context {
  readonly config: Config
  readonly db: Db
  readonly log: Logger
  readonly metrics: Metrics
  readonly now: () => Date // injected, so that tests decide what time it is for credentials
}
