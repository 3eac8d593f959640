// What a command is: its words, what it takes, and the function that runs it. The table in commands.ts is made of these.

export interface Input {
  readonly args: readonly string[]
  readonly options: Readonly<Record<string, string>>
  readonly flags: ReadonlySet<string>
  readonly json: boolean
}

export interface Command {
  readonly words: string // 'partners create'
  readonly args?: readonly string[] // '<partner_id>', in order, all required
  readonly options?: Readonly<Record<string, string>> // --name VALUE, and what it means
  readonly required?: readonly string[] // the options that cannot be left out
  readonly flags?: Readonly<Record<string, string>> // --name, and what it means
  readonly summary: string
  run(input: Input): Promise<number> // the exit code
}
