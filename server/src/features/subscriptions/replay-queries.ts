import { type Fragment, type Queries, type Query, transaction } from '../../postgres/connect.ts'
import { asksFor } from '../events/asks-for.ts'
import { isShownTo } from '../events/queries.ts'
import { markDue, resetBreaker } from './mark-due.ts'

/** Each returns how many deliveries it queued; undefined, if there are more than the limit and nothing was done. */
type QueueAgain = (
  sql: Queries,
  communityId: number,
  subscriptionId: number,
  since: string,
  limit: number,
) => Promise<number | undefined>

/**
 * Queues all events since then that match the subscription, including delivered ones. Those that the partner must not
 * know of are not even counted. The joins are plain ones, because Citus does not insert from a lateral one.
 */
export const replaySince: QueueAgain = (sql, communityId, subscriptionId, since, limit) =>
  queueAgain(sql, communityId, subscriptionId, limit, {
    find: (tx) => tx`
      from subscriptions s join events e on e.community_id = s.community_id and e.created_at >= ${since}::timestamptz
        and e.position is not null and e.subscription_id is null
        and ${asksFor(tx, 'e')}
      left join members m on m.community_id = e.community_id and m.id = e.member_id
      left join listings l on l.community_id = e.community_id and l.id = e.listing_id
      where s.community_id = ${communityId} and s.id = ${subscriptionId}
        and ${isShownTo(tx, tx`(m.visible is not false and l.visible is not false)`, tx`s.partner_id`)}`,
    queue: (tx, found) => tx`
      insert into deliveries (community_id, subscription_id, event_id, event_created_at, claims, next_attempt_at)
      select s.community_id, s.id, e.id, e.created_at, 1, now() ${found}
      order by e.id
      on conflict (community_id, subscription_id, event_id) do update
        set status = 'pending', held_reason = null, attempts = 0, claims = deliveries.claims + 1,
          next_attempt_at = excluded.next_attempt_at, finished_at = null`,
  })

/** Queues again what was given up since then, and what failed and waits for its next attempt. */
export const requeueFailed: QueueAgain = (sql, communityId, subscriptionId, since, limit) =>
  queueAgain(sql, communityId, subscriptionId, limit, {
    find: (tx) => tx`
      from deliveries
      where community_id = ${communityId} and subscription_id = ${subscriptionId}
        and ((status = 'failed' and finished_at >= ${since}::timestamptz) or (status = 'pending' and attempts > 0))`,
    queue: (tx, found) => tx`
      update deliveries set status = 'pending', held_reason = null, attempts = 0, claims = claims + 1,
        next_attempt_at = now(), finished_at = null
      where community_id = ${communityId} and id = any (array(select id ${found} order by event_id for no key update))`,
  })

/**
 * Lets one transaction at a time queue many deliveries of a partner, and those that touch single ones share the lock.
 * It does not wait: each waiting call would occupy a connection for as long as a replay takes. Returns whether it
 * has the lock, which ends with the transaction.
 */
export async function tryLockReplays(
  tx: Queries,
  communityId: number,
  partnerId: number,
  mode: 'exclusive' | 'shared',
): Promise<boolean> {
  const key = replayKey(tx, communityId, partnerId)
  const [row] = await tx<[{ acquired: boolean }]>`
    select ${mode === 'shared' ? tx`pg_try_advisory_xact_lock_shared(${key})` : tx`pg_try_advisory_xact_lock(${key})`}
      as acquired`
  return row.acquired
}

/**
 * The same lock, exclusively, for a change that releases what was held for a partner. It waits for a running replay. Take
 * it before the partner's row, which the calls that it keeps away would wait for.
 */
export async function lockReplays(tx: Queries, communityId: number, partnerId: number): Promise<void> {
  await tx`select pg_advisory_xact_lock(${replayKey(tx, communityId, partnerId)})`
}

function replayKey(tx: Queries, communityId: number, partnerId: number): Fragment {
  return tx`hashtextextended(${`replays ${communityId} ${partnerId}`}::text, 0)`
}

interface Statements {
  find: (tx: Queries) => Query<object[]>
  queue: (tx: Queries, found: Fragment) => Query<object[]>
}

async function queueAgain(
  sql: Queries,
  communityId: number,
  subscriptionId: number,
  limit: number,
  { find, queue }: Statements,
): Promise<number | undefined> {
  return transaction(sql, async (tx) => {
    await tx`
      select 1 from subscriptions where community_id = ${communityId} and id = ${subscriptionId} for key share`
    const found = find(tx)
    const [row] = await tx<[{ count: number }]>`select count(*) from (select ${found} limit ${limit + 1}) f`
    if (row.count > limit) return undefined
    const { count } = await queue(tx, found)
    await resetBreaker(tx, communityId, subscriptionId)
    if (count > 0) await markDue(tx, communityId, [subscriptionId])
    return count
  })
}
