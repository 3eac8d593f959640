// One table of commands; help, parsing and exit codes follow from it. Exit codes: 0 done, 1 failed, 2 used wrongly.
// What brings the whole service with it is loaded only when it is run: the other commands start several times faster.
import { parseArgs } from 'node:util'
import { version } from '../version.ts'
import type { Command } from './command.ts'
import { operatorCommands } from './operator-commands.ts'
import { orderCommands } from './order-commands.ts'

class UsageError extends Error {}

const commands: readonly Command[] = [
  {
    words: 'serve',
    summary: 'Run the service until it is told to stop (SIGTERM, Ctrl-C).',
    run: async () => (await import('./serve.ts')).serve(),
  },
  {
    words: 'migrate',
    summary: 'Bring the database up to date and exit.',
    run: async () => (await import('./migrate.ts')).migrateDatabase(),
  },
  {
    words: 'demo',
    flags: { fast: 'do not pause between the steps' },
    summary: 'Play the story of an order, step by step, with a service of its own.',
    run: async (input) => (await import('./demo.ts')).playDemo(input),
  },
  ...operatorCommands,
  ...orderCommands,
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
        ...Object.fromEntries(Object.keys(command.options ?? {}).map((name) => [name, { type: 'string' as const }])),
        ...Object.fromEntries(
          ['json', ...Object.keys(command.flags ?? {})].map((name) => [name, { type: 'boolean' as const }]),
        ),
      },
    })
    const args = positionals.slice(command.words.split(' ').length)
    if (args.length !== (command.args?.length ?? 0)) throw new UsageError(`Expected: ${usage(command)}`)
    const options = Object.fromEntries(Object.entries(values).filter(([, value]) => typeof value === 'string'))
    const flags = new Set(Object.keys(values).filter((name) => values[name] === true))
    const missing = command.required?.find((name) => options[name] === undefined)
    if (missing !== undefined) throw new UsageError(`--${missing} is missing. Expected: ${usage(command)}`)
    return await command.run({ args, options: options as Record<string, string>, flags, json: flags.has('json') })
  } catch (error) {
    const code = (error as { code?: string }).code ?? ''
    if (error instanceof UsageError || code.startsWith('ERR_PARSE_ARGS')) {
      return complain((error as Error).message, `partner-service ${command.words} --help tells more.`)
    }
    process.stderr.write(`${(error as Error).message}\n`)
    return 1
  }
}

function usage({ words, args = [], options = {}, required = [], flags = {} }: Command): string {
  const valued = Object.keys(options).map((name) => (required.includes(name) ? `--${name} VALUE` : `[--${name} VALUE]`))
  return ['partner-service', words, ...args, ...valued, ...Object.keys(flags).map((name) => `[--${name}]`)].join(' ')
}

function overview(): string {
  const width = Math.max(...commands.map((each) => [each.words, ...(each.args ?? [])].join(' ').length))
  const lines = commands.map(
    (each) => `  ${[each.words, ...(each.args ?? [])].join(' ').padEnd(width)}  ${each.summary}`,
  )
  return `Partner Service ${version}

Usage: partner-service <command> [--help] [--json]

${lines.join('\n')}

All but the first three talk to a running service: OPERATOR_URL (default http://127.0.0.1:OPERATOR_PORT) with OPERATOR_TOKEN
(default: the token that a sandbox keeps in DATA_DIR/operator-token). Settings are read from the environment and from .env;
docs/configuration.md lists them.`
}

function helpFor(command: Command): string {
  const options = Object.entries({ ...command.options, ...command.flags, json: 'print JSON instead of text' })
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
