// `demo`: the story of an order, played by the real service in a folder of its own, which is gone afterwards; nothing of the user's
// is read or touched. Exit code 0 only when everything that it claims was found to be so.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseConfig } from '../config.ts'
import { startService } from '../service.ts'
import { version } from '../version.ts'
import type { Input } from './command.ts'
import { createLogger } from './configured.ts'
import { makeCertificates } from './demo-certificates.ts'
import { startReceiver } from './demo-receiver.ts'
import { createJsonScreen, createTextScreen } from './demo-screen.ts'
import { tellStory } from './demo-story.ts'

export async function playDemo({ flags, json }: Input): Promise<number> {
  const screen = json
    ? createJsonScreen()
    : createTextScreen({ pauses: process.stdout.isTTY === true && !flags.has('fast') })
  screen.say(`Partner Service ${version}: the story of an order\n\n${introduction}\n`)
  const folder = ownFolder()
  const { url, operatorUrl, operatorToken, key, receiver, stop } = await setTheStage(folder)
  try {
    screen.say(`  Partner API   ${url}/v1\n  Operator API  ${operatorUrl}/operator/v1`)
    screen.say(`  Endpoint      ${receiver.url}`)
    await tellStory({ url, operatorUrl, operatorToken, key, receiver, screen })
  } finally {
    screen.end()
    await stop()
  }
  screen.say(screen.failures === 0 ? ending : `${screen.failures} of the checks above did NOT hold.`)
  return screen.failures === 0 ? 0 : 1
}

// Removed however the demo ends, also by Ctrl-C or when nobody reads on.
function ownFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'partner-service-demo-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  process.once('SIGINT', () => process.exit(130))
  process.once('SIGTERM', () => process.exit(143))
  process.stdout.once('error', () => process.exit(1))
  return folder
}

async function setTheStage(folder: string) {
  const certificates = makeCertificates()
  const authorityFile = join(folder, 'authority.pem')
  writeFileSync(authorityFile, certificates.authority)
  const result = parseConfig({
    ...{ MODE: 'sandbox', HOST: '127.0.0.1', PORT: '0', OPERATOR_PORT: '0', LOG_LEVEL: 'error' },
    DATA_DIR: join(folder, 'data'),
    WEBHOOK_CA_FILE: authorityFile,
  })
  if (!result.ok) throw new Error(result.mistakes.join('\n'))
  const receiver = await startReceiver(certificates)
  try {
    const service = await startService(result.config, { log: createLogger(result.config.logLevel) })
    const stop = async () => {
      await service.stop()
      await receiver.close()
    }
    return { ...service, key: service.demo!.secret, receiver, stop }
  } catch (error) {
    await receiver.close()
    throw error
  }
}

const introduction = `The real service on an embedded database, and a partner's HTTPS endpoint, only
for the moment and in a folder of their own. Starting …`

const ending = `Everything held. Try it yourself:

  npx partner-service serve       the service with this demo partner, to stay
  npx partner-service reconcile   the proof, from the command line
  http://localhost:8080/docs      the reference, once it runs
  docs/orders.md                  orders explained: states, fees, errors, events
  docs/webhooks.md                how to verify webhooks, and what if they fail`
