import type { Queries } from '../../postgres/connect.ts'

export interface MarkedQueue {
  subscription_id: number
  worker: string | null
}

/**
 * Tells the delivery workers that these subscriptions have pending deliveries. Call it in the transaction that makes
 * deliveries pending, after that change: the lock on the queue's row then orders it against a worker that finds nothing
 * more to send. A paused queue is due when its pause ends.
 */
export async function markDue(
  tx: Queries,
  communityId: number,
  subscriptionIds: number[],
  at?: Date,
): Promise<MarkedQueue[]> {
  return tx<MarkedQueue[]>`
    insert into delivery_queues as q (community_id, subscription_id, due_at)
    select ${communityId}, i.id, coalesce(${at ?? null}::timestamptz, now())
    from unnest(${subscriptionIds}::int8[]) as i(id) order by i.id
    on conflict (community_id, subscription_id) do update
      set due_at = least(q.due_at, greatest(excluded.due_at, q.paused_until))
    returning subscription_id, worker`
}

/**
 * Closes an open circuit breaker, because somebody waits for the next delivery. Call it after
 * changing the subscription or its deliveries: everyone locks subscriptions, deliveries and queues in this order.
 */
export async function resetBreaker(tx: Queries, communityId: number, subscriptionId: number): Promise<void> {
  await tx`
    update delivery_queues
    set failures = 0, paused_until = null, resets = resets + 1
    where community_id = ${communityId} and subscription_id = ${subscriptionId}`
  // A statement of its own: Citus accepts no `now()` in a `case` here.
  await tx`
    update delivery_queues set due_at = now()
    where community_id = ${communityId} and subscription_id = ${subscriptionId} and due_at > now()`
}
