// What a database is for is decided at its first start and never changes: sandbox data and production data do not mix.
import type { Db } from './db.ts'

export class WrongMode extends Error {}

export async function claimDatabase(db: Db, mode: string): Promise<void> {
  await db.query('insert into installation (mode) values ($1) on conflict do nothing', [mode])
  const { rows } = await db.query<{ mode: string }>('select mode from installation')
  if (rows[0]!.mode !== mode) {
    throw new WrongMode(
      `This database belongs to a ${rows[0]!.mode} installation, but MODE is ${mode}. Use another database, or set MODE=${rows[0]!.mode}.`,
    )
  }
}
