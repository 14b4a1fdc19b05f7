import { identifier, type Queries, transaction } from '../../postgres/connect.ts'
import { asksFor } from '../events/asks-for.ts'

/** Who lists deliveries is shown so many that wait for their first attempt, the oldest. */
const LISTED_MAX = 1000
/** So many events are gone through for it, and to count them: beyond, it takes too long to be worth it. */
const EVENTS_MAX = 10_000
/** So many at once, while whoever puts events in order waits. */
const KEPT_AT_ONCE = 1000

/**
 * Whether the subscription `s` is to be told of the event `e`, and nobody has tried: there is no row (migration 0018).
 * Each is looked up by itself; a join might read all that the subscription was ever sent.
 */
export function isUntried(sql: Queries, communityId: number) {
  return sql`
    case when e.subscription_id is null then ${asksFor(sql, 'e')} else e.subscription_id = s.id end
    and (select true from deliveries d where d.community_id = ${communityId} and d.subscription_id = s.id
      and d.event_id = e.id) is null`
}

/** The oldest of them, by the cursor of that name. */
export function untriedEvents(sql: Queries, communityId: number, cursor: string, eventsMax = EVENTS_MAX) {
  const done = identifier(`${cursor}.done_position`)
  return sql`
    events e where e.community_id = ${communityId} and e.position > ${done}
      and e.position <= least(${identifier(`${cursor}.wanted_position`)}, ${done} + ${eventsMax})
      and ${isUntried(sql, communityId)}`
}

/** Gives them a row, for those who list them. They are due since they happened, before whatever came later. */
export async function makeUntriedRows(
  sql: Queries,
  communityId: number,
  subscriptionId: number,
  { limit, eventsMax } = { limit: LISTED_MAX, eventsMax: EVENTS_MAX },
): Promise<void> {
  await sql`
    with kept as materialized (
      select s.id, s.event_types, k.done_position, k.wanted_position
      from subscriptions s join delivery_cursors k on k.community_id = ${communityId} and k.subscription_id = s.id
      where s.community_id = ${communityId} and s.id = ${subscriptionId} and k.done_position < k.wanted_position
      for key share of s
    )
    insert into deliveries (community_id, subscription_id, event_id, event_created_at, next_attempt_at, created_at)
    select ${communityId}, s.id, u.id, u.created_at, u.created_at, u.created_at
    from kept s, lateral (
      select e.id, e.created_at from ${untriedEvents(sql, communityId, 's', eventsMax)}
      order by e.position limit ${limit}) u
    order by u.id
    on conflict (community_id, subscription_id, event_id) do nothing`
}

/**
 * What a subscription was to be told of so far stays, in rows: before it asks for something else, before its status
 * changes, and when its receiver fails. Call it outside a transaction first if there may be much.
 */
export async function keepUntried(sql: Queries, communityId: number, subscriptionId: number): Promise<void> {
  while (await transaction(sql, (tx) => keepSome(tx, communityId, subscriptionId)));
}

/** Returns whether there is more. */
async function keepSome(tx: Queries, communityId: number, subscriptionId: number): Promise<boolean> {
  // The subscription first, as whoever deletes it.
  await tx`select from subscriptions where community_id = ${communityId} and id = ${subscriptionId} for key share`
  const [cursor] = await tx<{ events: number }[]>`
    select wanted_position - done_position as events from delivery_cursors
    where community_id = ${communityId} and subscription_id = ${subscriptionId} for no key update`
  if (!cursor || cursor.events <= 0) return false
  await makeUntriedRows(tx, communityId, subscriptionId, { limit: KEPT_AT_ONCE, eventsMax: KEPT_AT_ONCE })
  await tx`
    update delivery_cursors set done_position = least(wanted_position, done_position + ${KEPT_AT_ONCE})
    where community_id = ${communityId} and subscription_id = ${subscriptionId}`
  return cursor.events > KEPT_AT_ONCE
}
