// One process at a time on a data folder of the embedded database; however it ends, the next one opens the folder at once.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { run } from '../lifecycle/run.ts'
import { createDatabase, databaseKind } from '../support/database.ts'
import { spawnService } from '../support/service.ts'

if (databaseKind === 'embedded') {
  test('a second process on the same data folder is refused with a clear message, and the first is not disturbed', async (t) => {
    const database = await createDatabase()
    t.after(() => database.remove())
    const first = await spawnService(database)
    t.after(() => first.kill())
    for (const command of ['serve', 'migrate']) {
      const { ended, log, output } = run(database, [command])
      assert.equal(await ended, 1)
      assert.ok(log().includes(`The data folder ${database.dataDir} is in use by another process.`), log())
      assert.equal(output(), '')
    }
    assert.equal((await first.partner.get('/partner')).status, 200)
    const written = await first.operator.post('/partners', { name: 'Still writing' })
    assert.equal(written.status, 201)
  })

  test('after kill -9 the folder opens at once, with everything that was written', async (t) => {
    const database = await createDatabase()
    t.after(() => database.remove())
    let service = await spawnService(database)
    t.after(() => service.kill())
    const { body: partner } = await service.operator.post('/partners', { name: 'Survivor' })
    for (let round = 0; round < 3; round++) {
      await service.kill()
      service = await spawnService(database) // throws when the start is refused
      assert.equal((await service.operator.get(`/partners/${partner.id}`)).body.name, 'Survivor')
    }
  })

  test('of several processes that open one folder at once, one gets it and the others say why not', async (t) => {
    const database = await createDatabase()
    t.after(() => database.remove())
    const starts = await Promise.allSettled([1, 2, 3].map(() => spawnService(database)))
    const winners = starts.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
    t.after(() => Promise.all(winners.map((each) => each.kill())))
    assert.equal(winners.length, 1)
    for (const each of starts) {
      if (each.status === 'rejected') assert.match(String(each.reason), /is in use by another process/)
    }
  })
}
