// The sandbox's demo partner: made at the first start, with a full configuration, funds, and a key that later starts show again.
import { randomBytes } from 'node:crypto'
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import type { MasterKey } from '../config-parsers.ts'
import type { Context } from '../context.ts'
import { recordChange } from '../db/changes.ts'
import type { Tx } from '../db/db.ts'
import { randomText } from '../ids.ts'
import { topUp } from '../orders/orders.ts'
import { findOrderByReference } from '../orders/queries.ts'
import type { Actor } from '../partners/audit.ts'
import { createKey, newSecret, prefixOf } from '../partners/keys.ts'
import { createPartner } from '../partners/partners.ts'
import { findCredential } from '../partners/queries.ts'
import { scopes } from '../partners/schema.ts'
import { demoConfiguration, demoFunds } from './demo-configuration.ts'

const sandbox: Actor = { kind: 'system', id: 'sandbox', name: 'sandbox', requestId: null }

// The file comes first and the database follows it: whatever moment a crash picks, the next start completes the rest.
export async function ensureDemoPartner(ctx: Context): Promise<{ partnerId: string; secret: string }> {
  const secret = ensureSecretFile(ctx.config.dataDir, 'demo-key', newSecret)
  const partnerId = await ctx.db.transaction(async (tx) => {
    const id = (await lockDemoPartner(tx)) ?? (await createDemoPartner(tx))
    const known = await findCredential(tx, prefixOf(secret)!)
    if (!known) await createKey(tx, sandbox, id, { name: 'demo', scopes: [...scopes] }, { secret, now: ctx.now() })
    for (const funds of demoFunds) {
      if (!(await findOrderByReference(tx, id, 'top_up', funds.reference_id))) await topUp(tx, sandbox, id, funds)
    }
    return id
  })
  return { partnerId, secret }
}

// The row lock lets several processes start at once and make one demo partner.
async function lockDemoPartner(tx: Tx): Promise<string | null> {
  const { rows } = await tx.query<{ demoPartnerId: string | null }>(
    'select demo_partner_id from installation for update',
  )
  return rows[0]!.demoPartnerId
}

async function createDemoPartner(tx: Tx): Promise<string> {
  const { id } = await createPartner(tx, sandbox, { name: demoConfiguration.name, configuration: demoConfiguration })
  await tx.query('update installation set demo_partner_id = $1', [id])
  await recordChange(tx, id)
  return id
}

export function ensureOperatorToken(dataDir: string): string {
  return ensureSecretFile(dataDir, 'operator-token', () => `opt_${randomText(40)}`)
}

export function ensureMasterKey(dataDir: string): MasterKey[] {
  const [version, key] = ensureSecretFile(dataDir, 'master-key', () => `1:${randomBytes(32).toString('base64')}`).split(
    ':',
  )
  return [{ version: Number(version), bytes: Buffer.from(key!, 'base64') }]
}

// Several processes may start at once on one folder: whoever links its file first decides, and everybody reads that one.
function ensureSecretFile(dataDir: string, name: string, make: () => string): string {
  const path = join(dataDir, name)
  if (!existsSync(path)) {
    mkdirSync(dataDir, { recursive: true })
    const draft = `${path}.${process.pid}-${randomText(8)}`
    const file = openSync(draft, 'wx', 0o600)
    try {
      writeSync(file, `${make()}\n`)
      fsyncSync(file)
      closeSync(file)
      linkSync(draft, path)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    } finally {
      unlinkSync(draft)
    }
  }
  return readFileSync(path, 'utf8').trim()
}
