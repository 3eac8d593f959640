// One table of commands; help, parsing and exit codes follow from it. Exit codes: 0 done, 1 failed, 2 used wrongly.
import { parseArgs } from 'node:util'
import { version } from '../version.ts'
import { migrateDatabase } from './migrate.ts'
import { operatorCommands } from './operator-commands.ts'
import { serve } from './serve.ts'

export interface Command {
  readonly words: string // 'partners create'
  readonly args?: readonly string[] // '<partner_id>', in order, all required
  readonly options?: Readonly<Record<string, string>> // --name VALUE, and what it means
  readonly summary: string
  run(input: { args: readonly string[]; options: Readonly<Record<string, string>>; json: boolean }): Promise<number>
}

export class UsageError extends Error {}

const commands: readonly Command[] = [
  { words: 'serve', summary: 'Run the service until it is told to stop (SIGTERM, Ctrl-C).', run: serve },
  { words: 'migrate', summary: 'Bring the database up to date and exit.', run: migrateDatabase },
  ...operatorCommands,
]

export async function runCommand(argv: readonly string[]): Promise<number> {
  if (argv[0] === '--version' || argv[0] === '-v') return print(version)
  const words = argv.filter((word) => !word.startsWith('-'))
  const command = commands.find((each) => each.words === words.slice(0, each.words.split(' ').length).join(' '))
  const wantsHelp = argv.includes('--help') || argv.includes('-h') || argv[0] === 'help'
  if (argv.length === 0 || (wantsHelp && !command)) return print(overview())
  if (!command) return complain(`There is no command "${argv.join(' ')}".`, 'partner-service --help lists them.')
  if (wantsHelp) return print(helpFor(command))
  try {
    const { positionals, values } = parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        json: { type: 'boolean' },
        ...Object.fromEntries(Object.keys(command.options ?? {}).map((name) => [name, { type: 'string' as const }])),
      },
    })
    const args = positionals.slice(command.words.split(' ').length)
    if (args.length !== (command.args?.length ?? 0)) throw new UsageError(`Expected: ${usage(command)}`)
    const { json = false, ...options } = values
    return await command.run({ args, options: options as Record<string, string>, json: json === true })
  } catch (error) {
    const code = (error as { code?: string }).code ?? ''
    if (error instanceof UsageError || code.startsWith('ERR_PARSE_ARGS')) {
      return complain((error as Error).message, `partner-service ${command.words} --help tells more.`)
    }
    process.stderr.write(`${(error as Error).message}\n`)
    return 1
  }
}

function usage({ words, args = [], options = {} }: Command): string {
  const flags = Object.keys(options).map((name) => `[--${name} VALUE]`)
  return ['partner-service', words, ...args, ...flags].join(' ')
}

function overview(): string {
  const width = Math.max(...commands.map((each) => [each.words, ...(each.args ?? [])].join(' ').length))
  const lines = commands.map(
    (each) => `  ${[each.words, ...(each.args ?? [])].join(' ').padEnd(width)}  ${each.summary}`,
  )
  return `Partner Service ${version}

Usage: partner-service <command> [--help] [--json]

${lines.join('\n')}

Operator commands talk to a running service: OPERATOR_URL (default http://127.0.0.1:OPERATOR_PORT) with OPERATOR_TOKEN
(default: the token that a sandbox keeps in DATA_DIR/operator-token). Settings are read from the environment and from .env;
docs/configuration.md lists them.`
}

function helpFor(command: Command): string {
  const options = Object.entries({ ...command.options, json: 'print JSON instead of text' })
  return `${command.summary}\n\nUsage: ${usage(command)}\n\n${options.map(([name, meaning]) => `  --${name.padEnd(14)} ${meaning}`).join('\n')}`
}

function print(text: string): number {
  process.stdout.write(`${text}\n`)
  return 0
}

function complain(...lines: string[]): number {
  process.stderr.write(`${lines.join('\n')}\n`)
  return 2
}
