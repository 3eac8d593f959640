// Connections between the service and PostgreSQL cut in the middle of a commit, 24 of publishing and 24 of settling, by turns before the
// server gets the COMMIT and after it has answered, while others publish; and connections that only fall silent. Costs about 50 s.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { checkStory } from '../support/checker.ts'
import { startPublishing, subscribe } from '../support/checker-publishers.ts'
import { createRandom } from '../support/checker-random.ts'
import { connectTo, createDatabase } from '../support/database.ts'
import { eventually } from '../support/endpoint.ts'
import { freePort } from '../support/postgres.ts'
import { type Behaviour, type Receiver, startReceiver } from '../support/receiver.ts'
import { type ServiceProcess, spawnService } from '../support/service.ts'
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts'

const cuts = 24
const order = { id: 'o-1', state: 'completed', operation: 'buy' }

interface Stage {
  readonly proxy: TcpProxy
  readonly receiver: Receiver
  readonly service: ServiceProcess
  readonly partnerId: string
  readonly databaseUrl: string
  readonly db: pg.Client // past the proxy
}

async function setStage(
  t: { after(work: () => Promise<void> | void): void },
  behaviour: Behaviour,
  actions: Parameters<typeof subscribe>[2],
): Promise<Stage> {
  const database = await createDatabase('postgres')
  const databaseUrl = database.environment.DATABASE_URL!
  const proxy = await startTcpProxy(t, databaseUrl)
  const receiver = await startReceiver(t, behaviour)
  const service = await spawnService(database, {
    DATABASE_URL: proxy.url(new URL(databaseUrl).pathname.slice(1)),
    OPERATOR_PORT: String(await freePort()),
    WEBHOOK_RETRY_SCHEDULE: Array(20).fill('200ms').join(','),
  })
  t.after(async () => {
    await service.kill()
    await database.remove()
  })
  const db = await connectTo(t, databaseUrl)
  const partnerId = await subscribe(service, receiver, actions)
  return { proxy, receiver, service, partnerId, databaseUrl, db }
}

test('an unknown commit is 503 to the publisher, and the same id again makes no second event', async (t) => {
  const { proxy, receiver, service, partnerId, databaseUrl, db } = await setStage(
    t,
    { delayMs: [0, 50], failShare: 0.1 },
    ['order-closed', 'incoming-funds'],
  )
  const publishing = startPublishing({
    operatorUrl: service.operatorUrl,
    token: service.operatorToken,
    partnerId,
    actions: ['incoming-funds'],
    random: createRandom('connections'),
    publishers: 6,
    pauseMs: 100,
  })
  const told = new Map<string, readonly string[]>()
  const publish = (id: string) => ({ partner_id: partnerId, id, action: 'order-closed', order })
  for (let round = 0; round < cuts; round++) {
    const moment = round % 2 === 0 ? 'before' : 'after'
    // One event in a commit that it shares with others, or a batch.
    const ids = round % 4 < 2 ? [`cut-${round}`] : [`cut-${round}-a`, `cut-${round}-b`]
    const body = ids.length === 1 ? publish(ids[0]!) : { events: ids.map(publish) }
    const cut = proxy.cutCommit(ids[0]!, moment)
    const refused = await service.operator.post('/events', body)
    await cut
    assert.equal(refused.status, 503, `${moment}: ${refused.text}`)
    assert.match(refused.body.error_msg, /outcome of this request is not known/)
    const { rows: stored } = await db.query<{ id: string; event_ids: string[] }>(
      'select id, event_ids from publications where id = any($1) order by id',
      [ids],
    )
    assert.equal(stored.length, moment === 'before' ? 0 : ids.length, `cut ${moment} the server got it`)
    const again = await service.operator.post('/events', body)
    assert.equal(again.status, 201, again.text)
    const answers: { id: string; event_ids: string[] }[] = ids.length === 1 ? [again.body] : again.body.events
    for (const { id, event_ids } of answers) told.set(id, event_ids)
    if (moment === 'after')
      assert.deepEqual(
        answers.map(({ id, event_ids }) => ({ id, event_ids })),
        stored,
      )
  }
  await publishing.stop()
  // The worker never died, so nothing was sent twice: neither by these cuts nor by those they meant for others.
  const verdict = await checkStory({ databaseUrl, receiver, told: new Map([...publishing.told, ...told]), faults: [] })
  const { attempts, ...figures } = verdict
  t.diagnostic(JSON.stringify({ cuts, others: publishing.maybes(), ...figures }))
})

test('an attempt whose settling commit is cut is settled once and sent once', async (t) => {
  const { proxy, receiver, service, partnerId, databaseUrl } = await setStage(
    t,
    { delayMs: [0, 100], failShare: 0.2 },
    ['order-closed', 'incoming-funds'],
  )
  const random = createRandom('settling')
  const publishing = startPublishing({
    operatorUrl: service.operatorUrl,
    token: service.operatorToken,
    partnerId,
    actions: ['order-closed', 'incoming-funds'],
    random,
    publishers: 6,
    pauseMs: 100,
  })
  for (let round = 0; round < cuts; round++) {
    await proxy.cutCommit('update events e set', round % 2 === 0 ? 'before' : 'after')
    await sleep(random.between(0, 300))
    if (round % 5 === 4) assert.ok(proxy.cutAll() > 0)
  }
  await publishing.stop()
  const verdict = await checkStory({ databaseUrl, receiver, told: publishing.told, faults: [] })
  const { attempts, ...figures } = verdict
  t.diagnostic(JSON.stringify({ cuts, ...figures }))
})

test('a commit that the network loses, without closing the connection, holds up neither publishers nor delivery', async (t) => {
  const { proxy, receiver, service, partnerId, db } = await setStage(t, {}, ['order-closed'])
  const publish = (id: string) =>
    service.operator.post('/events', { partner_id: partnerId, id, action: 'order-closed', order })
  const lost = [proxy.loseCommit('insert into publications'), proxy.loseCommit('insert into publications')]
  const first = publish('lost-1')
  await lost[0]
  const second = publish('lost-2')
  await lost[1]
  for (const answer of await Promise.all([first, second])) assert.equal(answer.status, 503)
  const settling = proxy.loseCommit('update events e set')
  for (const id of ['lost-1', 'lost-2', 'next']) assert.equal((await publish(id)).status, 201)
  await settling
  const left = async () => (await db.query(`select from events where state <> 'completed'`)).rowCount
  await eventually(async () => (await left()) === 0, 'all to be delivered')
  assert.equal((await receiver.arrivals()).length, 3)
})

test('what was settled while a read was under way is not sent again', async (t) => {
  const { proxy, receiver, partnerId, service, db } = await setStage(t, { delayMs: [1_500, 1_500] }, ['order-closed'])
  const publish = (id: string) =>
    service.operator.post('/events', { partner_id: partnerId, id, action: 'order-closed', order })
  const isDone = async (count: number) =>
    (await db.query(`select from events where state = 'completed'`)).rowCount === count
  await publish('first')
  await eventually(async () => (await receiver.arrivals()).length === 1, 'the first to be in flight')
  // As a publication that began earlier and commits later: the lane is read from there again.
  const held = proxy.holdAnswer('cross join lateral')
  await db.query(
    `insert into signals (subscription_ids, queue, due_at) select array[subscription_id], 'f', now() - interval '1 hour' from lanes`,
  )
  const release = await held
  await eventually(() => isDone(1), 'the first to be settled')
  await sleep(200) // its answer to arrive too
  release()
  await publish('second')
  await eventually(() => isDone(2), 'the second to be delivered')
  assert.equal((await receiver.arrivals()).length, 2)
})
