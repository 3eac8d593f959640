// Publishers that never stop for a fault, as the platform's core would: single events and batches, each with an id of its own.
// They remember what they were told. 201 is a promise; 503 or a lost answer is a `maybe`, repeated with the same id until it is
// told for certain; any other answer is wrong.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Action, catalogue } from '../../src/webhooks/catalogue.ts'
import type { Random } from './checker-random.ts'
import type { Receiver } from './receiver.ts'
import type { ServiceProcess } from './service.ts'

export interface PublishingOptions {
  readonly operatorUrl: string // the same through all restarts
  readonly token: string
  readonly partnerId: string
  readonly actions: readonly Action[]
  readonly random: Random
  readonly publishers: number
  readonly pauseMs: number // of each publisher, between two publications, on average
}

export interface Publishing {
  readonly told: ReadonlyMap<string, readonly string[]> // event ids by the publisher's id
  readonly events: () => number
  readonly maybes: () => number // so far, also those that were told later
  stop(): Promise<void> // and repeats every maybe until it is told
}

// Subscriptions of the demo partner, `each` for every one of these types, each with a path of its own. The partner's id.
export async function subscribe(
  { partner, operator }: ServiceProcess,
  receiver: Receiver,
  actions: readonly Action[],
  each = 1,
  settings: Record<string, unknown> = {},
): Promise<string> {
  for (const action of actions) {
    for (let i = 0; i < each; i++) {
      const wanted = { url: receiver.url(`/${action}/${i}`), events: [action], ...settings }
      const { status, text } = await partner.post('/webhooks/subscriptions', wanted)
      assert.equal(status, 201, text)
    }
  }
  return (await operator.get('/partners')).body.partners[0].id
}

interface Publication {
  readonly id: string
  readonly action: Action
}
type Request = readonly Publication[] // a batch, or one

export function startPublishing(options: PublishingOptions): Publishing {
  const { random, publishers, pauseMs, actions } = options
  const told = new Map<string, readonly string[]>()
  const requests: Request[] = []
  const untold: Request[] = []
  let count = 0
  let maybes = 0
  let stopped = false

  // False: maybe.
  const publish = async (request: Request): Promise<boolean> => {
    const answer = await post(options, request)
    if (!answer) maybes++
    for (const { id, event_ids } of answer ?? []) {
      const before = told.get(id)
      if (before) assert.deepEqual(event_ids, before, `${id} was told twice, differently`)
      told.set(id, event_ids)
    }
    return answer !== undefined
  }
  const untilTold = async (request: Request) => {
    const giveUpAt = Date.now() + 60_000
    while (!(await publish(request))) {
      assert.ok(Date.now() < giveUpAt, 'the service did not come back: it answers publishers with 503, or not at all')
      await sleep(random.between(50, 300))
    }
  }
  const work = async () => {
    while (!stopped) {
      await sleep(random.between(0, 2 * pauseMs))
      const size = random.chance(0.8) ? 1 : random.between(2, 10)
      const request = Array.from({ length: size }, () => ({ id: `p-${++count}`, action: random.pick(actions) }))
      requests.push(request)
      // Sometimes the same twice at once, and sometimes again what was told long ago: both change nothing.
      const [first] = await Promise.all([publish(request), random.chance(0.05) ? publish(request) : undefined])
      if (!first && random.chance(0.5)) untold.push(request)
      else if (!first) await untilTold(request)
      if (random.chance(0.05)) await publish(random.pick(requests))
    }
  }
  const working = Array.from({ length: publishers }, work)
  const failed = Promise.all(working)
  failed.catch(() => {}) // told by stop()

  return {
    told,
    events: () => [...told.values()].reduce((sum, ids) => sum + ids.length, 0),
    maybes: () => maybes,
    async stop() {
      stopped = true
      await failed
      for (const request of untold) await untilTold(request)
      assert.equal(told.size, count, 'every publication was told in the end')
    },
  }
}

// What the publisher was told, or undefined when that is unknown.
async function post(
  { operatorUrl, token, partnerId }: PublishingOptions,
  request: Request,
): Promise<{ id: string; event_ids: string[] }[] | undefined> {
  const events = request.map(({ id, action }) => ({ partner_id: partnerId, id, action, ...catalogue[action].example }))
  let status: number
  let text: string
  try {
    const response = await fetch(`${operatorUrl}/operator/v1/events`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify(events.length === 1 ? events[0] : { events }),
    })
    status = response.status
    text = await response.text()
  } catch {
    return undefined
  }
  if (status === 503) return undefined
  assert.equal(status, 201, `a publisher is told 201 or 503, not ${status}: ${text}`)
  const body = JSON.parse(text)
  return events.length === 1 ? [body] : body.events
}
