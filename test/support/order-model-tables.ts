// The tables behind orders, read and moved past the service: what is really stored, and an order whose time is over.
import pg from 'pg'
import { newId } from '../../src/ids.ts'
import { hashSecret, newSecret, prefixOf } from '../../src/partners/keys.ts'
import type { Books } from './order-model-check.ts'

type Query = (text: string, values: readonly (readonly string[])[]) => Promise<{ rows: Record<string, string>[] }>

// Everything about these partners, straight from the tables.
export async function readBooks(query: Query, partnerIds: readonly string[]): Promise<Books> {
  const read = async (text: string) => (await query(text, [partnerIds])).rows as never[]
  const of = 'where partner_id = any($1)'
  return {
    accounts: await read(
      `select partner_id as partner, currency, available::text as available, held::text as held, fees::text as fees,
         payouts::text as payouts, top_ups::text as "topUps"
       from settlement_accounts ${of}`,
    ),
    entries: await read(
      `select partner_id as partner, currency, kind, order_id as order, available::text as available, held::text as held
       from settlement_entries ${of} order by entry`,
    ),
    postings: await read(
      `select partner_id as partner, currency, entry::text as entry, account, amount::text as amount from postings ${of}`,
    ),
    backwards: await read(
      `select partner_id as partner, id, created_at::text as created, processed_at::text as processed, last_updated_at::text as updated,
         closed_at::text as closed
       from orders ${of} and not (created_at <= last_updated_at and coalesce(processed_at, last_updated_at) <= last_updated_at
         and coalesce(closed_at, last_updated_at) = last_updated_at)`,
    ),
    events: await read(
      `select partner_id as partner, action, convert_from(payload, 'utf8') as payload from events ${of}`,
    ),
  }
}

export interface Tables {
  readBooks(partnerIds: readonly string[]): Promise<Books>
  expireNow(orderId: string): Promise<boolean> // false when it does not wait for confirmation any more
  // A partner like that one, with its key and subscription, but a configuration and secrets of its own; in one statement.
  copyPartner(from: string, configuration: object): Promise<{ id: string; secret: string }>
  end(): Promise<void>
}

const copying = ['partners', 'partner_configurations', 'api_keys', 'subscriptions'].map(
  (
    table,
    i,
  ) => `${table} as (insert into ${table} select (jsonb_populate_record(null::${table}, to_jsonb(t) || $${i + 2}::jsonb)).*
    from ${table} t where t.${table === 'partners' ? 'id' : 'partner_id'} = $1)`,
)

// PostgreSQL only: the embedded database has no other connection than the service's.
export function openTables(databaseUrl: string): Tables {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 4 })
  pool.on('error', () => {}) // the database is dropped before the last goodbye has arrived
  return {
    readBooks: (ids) => readBooks((text, values) => pool.query(text, values as string[][]), ids),
    async expireNow(orderId) {
      const { rowCount } = await pool.query(
        `update orders set expires_at = now() - interval '1 second' where id = $1 and state = 'awaiting_confirmation'`,
        [orderId],
      )
      return rowCount === 1
    },
    async copyPartner(from, configuration) {
      const id = newId('ptr')
      const secret = newSecret()
      const prefix = prefixOf(secret)!
      const hash = hashSecret(secret)
      await pool.query(`with ${copying.map((each) => `new_${each}`).join(', ')} select 1`, [
        from,
        { id },
        { partner_id: id, document: configuration },
        { partner_id: id, id: newId('key'), prefix, secret_hash: `\\x${hash.toString('hex')}` },
        { partner_id: id, id: newId('sub') },
      ])
      return { id, secret }
    },
    end: () => pool.end(),
  }
}
