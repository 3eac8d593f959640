// The live stream over several processes: what any of them commits is told by all of them; while nobody follows, nothing is written.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { connectTo, createDatabase, databaseKind } from '../support/database.ts'
import { eventually, startEndpoint } from '../support/endpoint.ts'
import { createOrder, newOrderPartner } from '../support/orders.ts'
import { newKey, newPartner, publish, subscribe, untilFinished } from '../support/partner.ts'
import { startTestService } from '../support/service.ts'
import { followFromNow, type TestStream } from '../support/stream.ts'

type After = { after(work: () => Promise<void> | void): void }
const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` })
const token = { OPERATOR_TOKEN: 'an-operator-token-for-all-processes' }

// One process answers the stream, another takes calls, a third delivers.
async function startThree(t: After) {
  const database = await createDatabase()
  t.after(() => database.remove())
  const masterKey = { MASTER_KEY: `1:${Buffer.alloc(32, 7).toString('base64')}` }
  const start = (role: string) => startTestService(t, { database, environment: { ...token, ...masterKey, ROLE: role } })
  const worker = await start('worker')
  const here = await start('api')
  const there = await start('api')
  const sql = await connectTo(t, database.environment.DATABASE_URL!)
  return { worker, here, there, sql }
}

if (databaseKind === 'postgres') {
  test('what one process publishes and another delivers is told by a third, and nothing is missed', async (t) => {
    const { here, there } = await startThree(t)
    const own = await newPartner(here)
    const endpoint = await startEndpoint(t)
    await subscribe(own.api, endpoint.url)
    const stream = await followFromNow(t, there.url, bearer(own.secret))
    const ids: string[] = []
    for (let i = 0; i < 40; i++) ids.push(...(await publish(here, own.id)))
    for (const id of ids) await untilFinished(own.api, id)
    await eventually(() => {
      const done = new Set(stream.told.filter(({ data }) => data.state === 'completed').map(({ data }) => data.id))
      const tried = new Set(stream.told.filter(({ event }) => event === 'attempt').map(({ data }) => data.event_id))
      return ids.every((id) => done.has(id) && tried.has(id))
    }, 'all of them')
    assert.equal(stream.told.filter(({ event }) => event === 'reset').length, 1)
    const attempts = stream.told.filter(({ event }) => event === 'attempt').map(({ data }) => data.event_id)
    assert.equal(attempts.length, new Set(attempts).size, 'and each attempt once')
  })

  test('what is committed late, by a transaction that began before others, is told all the same', async (t) => {
    const { here, there, sql } = await startThree(t)
    const payer = await newOrderPartner(here)
    const { secret } = await newKey(here, payer.id, ['webhooks:read', 'orders:read'])
    const stream = await followFromNow(t, there.url, bearer(secret))
    await sql.query('begin')
    await sql.query(
      `insert into stream_entries (partner_id, kind, ids, data) values ($1, 'order', '{late}', '{"id": "late"}')`,
      [payer.id],
    )
    const order = await createOrder(payer)
    await stream.until('the later one', ({ data }) => data.id === order.id)
    await sql.query('commit')
    await stream.until('the one that began first', ({ data }) => data.id === 'late')
    await sleep(500) // were it told again, it would be by now
    assert.equal(stream.told.filter(({ data }) => data.id === 'late').length, 1)
  })

  test('while nobody follows a partner nothing is written for it, and again nothing once nobody does any more', async (t) => {
    const { here, there, sql } = await startThree(t)
    const [quiet, watched] = [await newPartner(here), await newPartner(here)]
    const endpoint = await startEndpoint(t)
    for (const { api } of [quiet, watched]) await subscribe(api, endpoint.url)
    const entries = async () => (await sql.query('select distinct partner_id from stream_entries')).rows
    for (const { id, api } of [quiet, watched]) await untilFinished(api, (await publish(here, id))[0]!)
    assert.deepEqual(await entries(), [])
    const stream = await followFromNow(t, there.url, bearer(watched.secret))
    for (const { id, api } of [quiet, watched]) await untilFinished(api, (await publish(here, id))[0]!)
    assert.deepEqual(await entries(), [{ partner_id: watched.id }])

    stream.leave()
    // As if a minute had passed: an announcement that nobody renews counts for nothing.
    await sql.query(`update stream_watchers set until = now() - interval '1 second'`)
    const again = await followFromNow(t, there.url, bearer(quiet.secret)) // makes everybody look again
    await sql.query('delete from stream_entries')
    await untilFinished(watched.api, (await publish(here, watched.id))[0]!)
    assert.deepEqual(await entries(), [])
    again.leave()
  })

  test('a stream on one process ends when its key is revoked on another', async (t) => {
    const { here, there } = await startThree(t)
    const own = await newPartner(here)
    const { id, secret } = await newKey(here, own.id, ['webhooks:read'])
    const stream = await followFromNow(t, there.url, bearer(secret))
    await here.operator.delete(`/partners/${own.id}/keys/${id}`)
    await eventually(() => stream.isEnded(), 'its end')
  })

  test('a process that hears late of who is followed has everybody look again', async (t) => {
    const { here, there, sql } = await startThree(t)
    const own = await newPartner(here)
    await subscribe(own.api, 'https://localhost:1/hook')
    const stream = await followFromNow(t, there.url, bearer(own.secret))
    const resets = ({ told }: TestStream) => told.filter(({ event }) => event === 'reset').length
    // Hidden, until every other process has forgotten; then there again, as if its news had been delayed.
    const nudge = (version: string) =>
      sql.query(
        `with next as (update change_counter set version = version + 1 returning version)
         insert into changes (version, subject) select version, $1 from next`,
        [version],
      )
    await sql.query(
      `update stream_watchers set since = now() - interval '10 seconds', until = now() - interval '1 second'`,
    )
    await nudge('watching')
    await sleep(1_500)
    const before = resets(stream)
    await sql.query(`update stream_watchers set until = now() + interval '1 minute'`)
    await nudge('watching')
    await eventually(() => resets(stream) > before, 'the reset')
  })
}
