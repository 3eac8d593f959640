// kill -9 at any moment: what was acknowledged is there after the restart, whole, and no version number is missing.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ApiClient } from '../support/client.ts'
import { createDatabase, databaseKind } from '../support/database.ts'
import { spawnService } from '../support/service.ts'

const rounds = databaseKind === 'embedded' ? 20 : 5 // PostgreSQL has crash tests of its own
const writers = 8

test(`kill -9 during configuration writes, ${rounds} times: every acknowledged write is there after the restart`, async (t) => {
  const database = await createDatabase()
  let service = await spawnService(database)
  t.after(async () => {
    await service.kill()
    await database.remove()
  })
  const { body: partner } = await service.operator.post('/partners', { name: 'Killed' })
  const path = `/partners/${partner.id}/configuration`
  const { body: empty } = await service.operator.get(path)
  const acknowledged = new Map<number, string>() // version, and the name it was written with
  let checkedUpTo = 0

  for (let round = 0; round < rounds; round++) {
    let killed = false
    let written = 0
    const write = async (writer: number) => {
      for (let i = 0; !killed; i++) {
        const name = `round ${round} writer ${writer} write ${i}`
        // A configuration large enough to span several pages of the database.
        const assets = Array.from({ length: 200 }, (_, n) => ({
          id: `A${n}`,
          decimal_places: 2,
          allowed_operations: [],
        }))
        const reply = await service.operator
          .put(path, { ...empty, name, available_assets: assets })
          .catch(() => undefined)
        if (!reply) return // killed before the answer: it may or may not have been written
        assert.equal(reply.status, 200, reply.text)
        const version = Number(JSON.parse(reply.headers.get('etag')!))
        assert.ok(!acknowledged.has(version), `version ${version} was given to two writers`)
        acknowledged.set(version, name)
        written++
      }
    }
    const writing = Promise.all(Array.from({ length: writers }, (_, writer) => write(writer)))
    while (written < 3) await sleep(5)
    await sleep(Math.random() * 250)
    killed = true
    await service.kill()
    await writing
    service = await spawnService(database)
    const versions = await readVersions(service.operator, path, checkedUpTo)
    checkedUpTo = Math.max(...versions.keys())
    for (const [version, name] of acknowledged) {
      if (versions.has(version)) assert.equal(versions.get(version), name)
      assert.ok(version <= checkedUpTo, `version ${version} was acknowledged and is gone after round ${round}`)
    }
    const { body: now } = await service.operator.get(`/partners/${partner.id}`)
    assert.equal(now.configuration_version, checkedUpTo)
  }
  const versions = await readVersions(service.operator, path, 0)
  for (let version = 1; version <= checkedUpTo; version++)
    assert.ok(versions.has(version), `version ${version} is missing`)
  for (const [version, name] of acknowledged) assert.equal(versions.get(version), name)
  const { body: audit } = await service.operator.get(`/audit-log?partner_id=${partner.id}&limit=1`)
  assert.equal(audit.entries[0].details.version, checkedUpTo)
  t.diagnostic(`${acknowledged.size} acknowledged writes, ${checkedUpTo} versions`)
})

// The versions above `after`, newest first, and the name in each.
async function readVersions(operator: ApiClient, path: string, after: number): Promise<Map<number, string>> {
  const versions = new Map<number, string>()
  for (let cursor = ''; ; ) {
    const { status, body, text } = await operator.get(`${path}/versions?limit=100${cursor}`)
    assert.equal(status, 200, text)
    for (const { version, configuration } of body.versions) versions.set(version, configuration.name)
    if (body.next_cursor === null || body.versions.at(-1).version <= after) return versions
    cursor = `&cursor=${encodeURIComponent(body.next_cursor)}`
  }
}
