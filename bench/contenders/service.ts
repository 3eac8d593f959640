// The whole service as `npm start` runs it, on PostgreSQL, for workloads over HTTP.
import { pino } from 'pino'
import { parseConfig } from '../../src/config.ts'
import { type Service, startService } from '../../src/service.ts'
import { serveCommands } from '../lib/child.ts'

let service: Service

serveCommands({
  async start({ databaseUrl, dataDir }: { databaseUrl: string; dataDir: string }) {
    const result = parseConfig({
      DATABASE_URL: databaseUrl,
      DATA_DIR: dataDir,
      PORT: '0',
      OPERATOR_PORT: '0',
      HOST: '127.0.0.1',
      LOG_LEVEL: 'warn',
      RATE_LIMIT: '900000:900000',
    })
    if (!result.ok) throw new Error(result.mistakes.join('\n'))
    service = await startService(result.config, { log: pino({ level: 'warn' }, pino.destination(2)) })
    const { url, operatorUrl, operatorToken, demo } = service
    return { url, operatorUrl, operatorToken, secret: demo!.secret, partnerId: demo!.partnerId }
  },
  stop: () => service.stop(),
})
