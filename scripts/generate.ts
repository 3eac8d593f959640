// `npm run generate`: writes every committed file that is made from the code. A test fails when one of them is stale.
import { writeFileSync } from 'node:fs'
import { configurationPage, errorsPage, eventsPage, generated } from './generate-docs.ts'
import { orderStatesPage } from './generate-order-states.ts'
import { generateSchema } from './generate-schema.ts'

// One line for each generated file: its path, and what it must hold.
export async function generatedFiles(): Promise<Record<string, string>> {
  return {
    'docs/configuration.md': configurationPage(),
    'docs/errors.md': errorsPage(),
    'docs/events.md': eventsPage(),
    'docs/order-states.md': orderStatesPage(generated),
    'src/db/schema.sql': await generateSchema(),
  }
}

if (import.meta.main) {
  for (const [path, text] of Object.entries(await generatedFiles())) {
    writeFileSync(path, text)
    process.stdout.write(`${path}\n`)
  }
}
