// The tables behind orders, read and moved past the service: what is really stored, and an order whose time is over.
import pg from 'pg'
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
    events: await read(
      `select partner_id as partner, action, convert_from(payload, 'utf8') as payload from events ${of}`,
    ),
  }
}

export interface Tables {
  readBooks(partnerIds: readonly string[]): Promise<Books>
  expireNow(orderId: string): Promise<boolean> // false when it does not wait for confirmation any more
  end(): Promise<void>
}

// PostgreSQL only: the embedded database has no other connection than the service's.
export function openTables(databaseUrl: string): Tables {
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 4 })
  return {
    readBooks: (ids) => readBooks((text, values) => pool.query(text, values as string[][]), ids),
    async expireNow(orderId) {
      const { rowCount } = await pool.query(
        `update orders set expires_at = now() - interval '1 second' where id = $1 and state = 'awaiting_confirmation'`,
        [orderId],
      )
      return rowCount === 1
    },
    end: () => pool.end(),
  }
}
