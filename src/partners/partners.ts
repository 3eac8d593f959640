// Partners: created, suspended, configured. Every change is one transaction with its audit entry and its news for the caches.
import { recordChange } from '../db/changes.ts'
import type { Tx } from '../db/db.ts'
import { Failure, fail } from '../errors.ts'
import { newId } from '../ids.ts'
import { type Actor, actorLabel, audit } from './audit.ts'
import { checkConfiguration, emptyConfiguration } from './configuration.ts'
import {
  findPartner,
  insertConfiguration,
  insertPartner,
  lockConfigurationVersion,
  type PartnerRow,
  updatePartnerState,
} from './queries.ts'
import type { PartnerConfiguration } from './schema.ts'

export async function createPartner(
  tx: Tx,
  actor: Actor,
  { name, configuration }: { name: string; configuration?: PartnerConfiguration | undefined },
): Promise<PartnerRow> {
  const document = { ...(configuration ?? emptyConfiguration(name)), name }
  try {
    checkConfiguration(document)
  } catch (error) {
    throw error instanceof Failure ? fail(error.code, `configuration.${error.message}`) : error
  }
  const id = newId('ptr')
  await insertPartner(tx, id)
  await insertConfiguration(tx, id, 1, document, actorLabel(actor))
  await audit(tx, actor, { action: 'partner.created', partnerId: id, targetId: id, details: { name } })
  await recordChange(tx, id)
  return (await findPartner(tx, id))!
}

export async function setPartnerState(
  tx: Tx,
  actor: Actor,
  id: string,
  state: PartnerRow['state'],
): Promise<PartnerRow> {
  const changed = await updatePartnerState(tx, id, state)
  if (changed === null) throw noSuchPartner()
  if (changed) {
    await audit(tx, actor, {
      action: state === 'suspended' ? 'partner.suspended' : 'partner.activated',
      partnerId: id,
      targetId: id,
    })
    await recordChange(tx, id)
  }
  return (await findPartner(tx, id))!
}

// `expected` is the version the writer believes to replace; undefined writes over whatever is there.
export async function writeConfiguration(
  tx: Tx,
  actor: Actor,
  partnerId: string,
  document: PartnerConfiguration,
  expected: number | undefined,
): Promise<number> {
  checkConfiguration(document)
  const current = await lockConfigurationVersion(tx, partnerId)
  if (current === undefined) throw noSuchPartner()
  if (expected !== undefined && expected !== current) {
    throw fail(
      'conflict',
      `If-Match names version ${expected}, but the configuration is at version ${current}; read it again.`,
    )
  }
  const version = current + 1
  await insertConfiguration(tx, partnerId, version, document, actorLabel(actor))
  await audit(tx, actor, { action: 'configuration.written', partnerId, targetId: partnerId, details: { version } })
  await recordChange(tx, partnerId)
  return version
}

export function noSuchPartner() {
  return fail('not_found', 'There is no such partner.')
}
