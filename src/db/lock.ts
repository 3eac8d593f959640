// A lock on a data folder: two processes that open one PGlite folder corrupt it without a word. Node has no flock, but the
// SQLite inside Node locks its files with fcntl, which the kernel releases however the process ends, kill -9 included.
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

export class FolderInUse extends Error {}

export function lockFolder(folder: string): () => void {
  const lock = new DatabaseSync(join(folder, 'lock'))
  try {
    lock.exec('pragma locking_mode = exclusive; begin exclusive')
  } catch (error) {
    lock.close()
    if (!/locked|busy/i.test(String(error))) throw error
    throw new FolderInUse(
      `The data folder ${folder} is in use by another process. Stop that process, or set DATA_DIR to another folder (several processes need PostgreSQL: set DATABASE_URL).`,
    )
  }
  return () => lock.close()
}
