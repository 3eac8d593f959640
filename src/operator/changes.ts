// Changes made by an operator: committed first, then heard of at once by this process; the others hear within a second.
import type { ChangeFeed } from '../db/changes.ts'
import type { Db, Tx } from '../db/db.ts'
import type { Reply } from '../http/route.ts'

export interface Changes {
  in(work: (tx: Tx) => Promise<Reply>): Promise<Reply> // in a transaction of its own
  after(work: () => Promise<Reply>): Promise<Reply> // work that commits by itself
}

export function createChanges(db: Db, feed: ChangeFeed): Changes {
  const after: Changes['after'] = async (work) => {
    const reply = await work()
    await feed.refresh()
    return reply
  }
  return { after, in: (work) => after(() => db.transaction(work)) }
}
