// `serve`: the service in the foreground. SIGTERM or Ctrl-C stops it in order and exits with 0; a second one ends it at once.
import type { Config } from '../config.ts'
import { type Service, startService } from '../service.ts'
import { version } from '../version.ts'
import { createLogger, readConfig } from './configured.ts'

const lingerMs = 1_000

export async function serve(): Promise<number> {
  const config = readConfig()
  const log = createLogger(config.logLevel)
  const stopAsked = firstSignal()
  const service = await startService(config, {
    log,
    beforeReady: (running) => process.stdout.write(greeting(config, running)),
  }).catch((error: NodeJS.ErrnoException & { port?: number }) => {
    if (error.code !== 'EADDRINUSE') throw error
    throw new Error(`Port ${error.port} is in use by another program. Set PORT or OPERATOR_PORT to a free one.`)
  })
  log.info({ signal: await stopAsked }, 'stopping')
  await service.stop()
  setTimeout(() => process.exit(0), lingerMs).unref() // a connection that a dead database never closes keeps nobody
  return 0
}

function firstSignal(): Promise<string> {
  return new Promise((resolve) => {
    let asked = false
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        if (asked) process.exit(1)
        asked = true
        resolve(signal)
      })
    }
  })
}

function greeting(config: Config, { url, operatorUrl, demo }: Omit<Service, 'stop'>): string {
  const database = config.databaseUrl ? 'PostgreSQL' : `embedded database in ${config.dataDir}`
  const head = `
Partner Service ${version}, ${config.mode} mode, ${database}

  Partner API     ${url}/v1    reference: ${url}/docs    console: ${url}/console
  Operator API    ${operatorUrl}/operator/v1    reference: ${operatorUrl}/docs    console: ${operatorUrl}/
`
  if (!demo) return `${head}\n`
  return `${head}
  Demo partner    ${demo.partnerId}
  Demo key        ${demo.secret}

Try it:

  curl ${url}/v1/partner -H 'Authorization: Bearer ${demo.secret}'

  curl ${operatorUrl}/operator/v1/partners -H "Authorization: Bearer $(cat ${config.operatorToken ? '…your OPERATOR_TOKEN…' : `${config.dataDir}/operator-token`})"

  npx partner-service partners list

Ctrl-C stops it.

`
}
