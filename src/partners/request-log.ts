// The log of requests, for the question "what became of my call?": every one that could change something and every one that was
// refused, of a caller who is known, for a week. Kept in memory and written in batches, never in a request's way; never a body, a
// header or a query.
import type { FastifyRequest } from 'fastify'
import type { Context } from '../context.ts'
import type { Queryable } from '../db/db.ts'
import type { Answer } from '../http/listener.ts'
import { newId } from '../ids.ts'
import type { Timestamp } from '../times.ts'
import type { Credential } from './directory.ts'

const writeEveryMs = 1_000
const mostWaiting = 5_000 // a flood of refusals is not worth more
const keptFor = '7 days'
const rowsInOneStep = 5_000

export interface RequestRow {
  partnerId: string
  requestId: string
  id: string
  at: Timestamp
  method: string
  route: string
  path: string
  status: number
  errorCode: string | null
  errorMsg: string | null
  durationMs: number
  keyId: string
  address: string
}

export interface RequestLog {
  note(request: FastifyRequest, answer: Answer, key: Credential): void
  find(partnerId: string, requestId: string): Promise<RequestRow | undefined> // the latest under that id
  stop(): Promise<void>
}

export function keepRequestLog(ctx: Context): RequestLog {
  let waiting: RequestRow[] = []
  let writing: Promise<void> = Promise.resolve()
  const dropped = ctx.metrics.counter('request_log_dropped_total', 'Requests that the log had no room for.')

  const keep = (rows: readonly RequestRow[]) => {
    const room = mostWaiting - waiting.length
    waiting.push(...rows.slice(0, room))
    if (rows.length > room) dropped.add({}, rows.length - room)
  }
  const write = (): Promise<void> => {
    writing = writing.then(async () => {
      if (waiting.length === 0) return
      const rows = waiting
      waiting = []
      await insertRequests(ctx.db, rows).catch((error: Error) => {
        ctx.log.warn({ error: error.message }, 'could not write the log of requests')
        keep(rows)
      })
    })
    return writing
  }
  const timer = setInterval(write, writeEveryMs)
  timer.unref()

  return {
    note(request, { status, failure, elapsedMs }, key) {
      keep([
        {
          partnerId: key.partnerId,
          requestId: request.id,
          id: newId('req'),
          at: new Date(Date.now() - elapsedMs).toISOString(),
          method: request.method,
          route: (request.routeOptions.url ?? '').replace(/:(\w+)/g, '{$1}'),
          path: request.url.split('?', 1)[0]!.slice(0, 1_000),
          status,
          errorCode: failure?.code ?? null,
          errorMsg: failure?.message ?? null,
          durationMs: Math.round(elapsedMs),
          keyId: key.id,
          address: request.ip,
        },
      ])
    },
    // What this process has not written yet can be asked for all the same.
    async find(partnerId, requestId) {
      await write()
      const { rows } = await ctx.db.query<RequestRow>(
        'select * from requests where partner_id = $1 and request_id = $2 order by at desc, id desc limit 1',
        [partnerId, requestId],
      )
      return rows[0]
    },
    async stop() {
      clearInterval(timer)
      await write()
    },
  }
}

async function insertRequests(db: Queryable, rows: readonly RequestRow[]): Promise<void> {
  await db.query(
    `insert into requests (partner_id, request_id, id, at, method, route, path, status, error_code, error_msg, duration_ms, key_id, address)
     select * from unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[], $5::text[], $6::text[], $7::text[], $8::int[],
       $9::text[], $10::text[], $11::int[], $12::text[], $13::text[])
     on conflict do nothing`,
    [
      rows.map((row) => row.partnerId),
      rows.map((row) => row.requestId),
      rows.map((row) => row.id),
      rows.map((row) => row.at),
      rows.map((row) => row.method),
      rows.map((row) => row.route),
      rows.map((row) => row.path),
      rows.map((row) => row.status),
      rows.map((row) => row.errorCode),
      rows.map((row) => row.errorMsg),
      rows.map((row) => row.durationMs),
      rows.map((row) => row.keyId),
      rows.map((row) => row.address),
    ],
  )
}

// Uses requests_at.
export async function forgetOldRequests(db: Queryable): Promise<void> {
  for (let count = rowsInOneStep; count === rowsInOneStep; ) {
    ;({ count } = await db.query(
      `delete from requests r using (
         select partner_id, request_id, id from requests where at < now() - interval '${keptFor}' limit ${rowsInOneStep}) old
       where r.partner_id = old.partner_id and r.request_id = old.request_id and r.id = old.id`,
    ))
  }
}
