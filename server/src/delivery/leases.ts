import { randomUUID } from 'node:crypto'
import type { Queries } from '../postgres/connect.ts'
import { giveUpLeases, takeLeases } from './delivery-queries.ts'

/** When a worker dies, others take over its subscriptions after this. */
const LEASE_MS = 10_000
/** A lease that ends sooner is renewed before more is sent under it. */
const RENEW_MS = 7000
/** A lease that ends later than this was taken before the database's clock was set back, and binds nobody. */
const LEASE_MAX_MS = 2 * LEASE_MS

/**
 * Which subscriptions this worker sends for. One worker at a time for each, so that what it has under way needs to be
 * known to nobody else. Leases are renewed by whoever uses them, and end by themselves.
 */
export interface Leases {
  /** This worker, to the database. */
  worker: string
  /** The latest end that a valid lease can have now. */
  endMax(now: Date): Date
  /** Takes or renews those that would end soon. Returns which of the subscriptions are this worker's now. */
  hold(communityId: number, subscriptionIds: number[]): Promise<Set<number>>
  /** For others to take over at once. */
  giveUpAll(): Promise<void>
}

function endMax(now: Date): Date {
  return new Date(now.getTime() + LEASE_MAX_MS)
}

export function holdLeases(sql: Queries, clock: () => Date): Leases {
  const worker = randomUUID()
  const endsMs = new Map<number, Map<number, number>>()
  // One after the other: a row that is being renewed is passed over.
  let last: Promise<unknown> = Promise.resolve()

  async function hold(communityId: number, subscriptionIds: number[]): Promise<Set<number>> {
    let ends = endsMs.get(communityId)
    if (!ends) endsMs.set(communityId, (ends = new Map()))
    const isLong = (id: number) => {
      const leftMs = (ends.get(id) ?? 0) - clock().getTime()
      return leftMs > RENEW_MS && leftMs <= LEASE_MAX_MS
    }
    const ending = subscriptionIds.filter((id) => !isLong(id))
    if (ending.length > 0) {
      const now = clock()
      const until = new Date(now.getTime() + LEASE_MS)
      for (const [id, endMs] of ends) if (endMs <= now.getTime()) ends.delete(id)
      for (const id of await takeLeases(sql, communityId, worker, ending, { now, until, endMax: endMax(now) })) {
        ends.set(id, until.getTime())
      }
    }
    return new Set(subscriptionIds.filter(isLong))
  }

  return {
    worker,
    endMax,
    hold(communityId, subscriptionIds) {
      const held = last.then(() => hold(communityId, subscriptionIds))
      last = held.catch(() => {})
      return held
    },
    async giveUpAll() {
      await last
      await Promise.all([...endsMs.keys()].map((communityId) => giveUpLeases(sql, communityId, worker)))
      endsMs.clear()
    },
  }
}
