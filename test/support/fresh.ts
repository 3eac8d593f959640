// The service as a newcomer meets it: `npm start` in an empty data folder, on free ports. For tests in test/project, which run
// without the databases that the other tests share.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ServiceProcess, spawnService } from './service.ts'

export interface FreshService extends ServiceProcess {
  readonly dataDir: string
}

export async function startFresh(
  t: { after(work: () => Promise<void>): void },
  environment: Record<string, string> = {},
): Promise<FreshService> {
  const folder = mkdtempSync(join(tmpdir(), 'partner-service-fresh-'))
  const remove = async () => rmSync(folder, { recursive: true, force: true })
  const dataDir = join(folder, 'data')
  const database = { environment: { DATA_DIR: dataDir }, dataDir, remove }
  const service = await spawnService(database, { RATE_LIMIT: '100:500', ...environment })
  t.after(async () => {
    await service.stop()
    await remove()
  })
  return { ...service, dataDir }
}
