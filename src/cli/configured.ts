// Reads the configuration for a command, or says everything that is wrong with it.
import pino, { type Logger } from 'pino'
import { type Config, parseConfig, readEnvironment } from '../config.ts'

export class ConfigurationError extends Error {}

export function readConfig(): Config {
  const result = parseConfig(readEnvironment())
  if (result.ok) return result.config
  const list = result.mistakes.map((each) => `  - ${each}`).join('\n')
  throw new ConfigurationError(
    `The configuration has ${result.mistakes.length === 1 ? 'a mistake' : `${result.mistakes.length} mistakes`}:\n${list}\nEvery setting is described in docs/configuration.md.`,
  )
}

// Logs go to standard error, so that standard output stays for people.
export function createLogger(level: string): Logger {
  return pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime },
    pino.destination({ dest: 2, sync: true }),
  )
}
