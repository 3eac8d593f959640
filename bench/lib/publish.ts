// Publishing as workloads ask for it: as fast as a number of callers can, one by one or in batches, or at a steady rate.
export interface PublishPlan {
  readonly count: number
  readonly callers: number
  readonly batch: number // 1: one by one
}

// Seconds it took.
export async function publishMany(
  { count, callers, batch }: PublishPlan,
  one: (i: number) => Promise<unknown>,
  many: (from: number, count: number) => Promise<unknown>,
): Promise<number> {
  let next = 0
  const startedAt = performance.now()
  const caller = async () => {
    while (next < count) {
      const from = next
      next += batch
      await (batch === 1 ? one(from) : many(from, batch))
    }
  }
  await Promise.all(Array.from({ length: callers }, caller))
  return (performance.now() - startedAt) / 1_000
}

export interface RatePlan {
  readonly perSecond: number
  readonly seconds: number
}

// Open loop: each is published at its time, whether or not the others are done. When each was, by its id.
export async function publishAtRate(
  { perSecond, seconds }: RatePlan,
  publish: (i: number, id: string) => Promise<string>,
): Promise<Map<string, number>> {
  const publishedAt = new Map<string, number>()
  const run = Math.random().toString(36).slice(2)
  const startedAt = performance.now()
  const underWay: Promise<void>[] = []
  for (let i = 0; i < perSecond * seconds; ) {
    const due = Math.floor(((performance.now() - startedAt) / 1_000) * perSecond)
    for (; i <= due && i < perSecond * seconds; i++) {
      const at = performance.timeOrigin + performance.now()
      underWay.push(publish(i, `${run}-${i}`).then((id) => void publishedAt.set(id, at)))
    }
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  await Promise.all(underWay)
  return publishedAt
}
