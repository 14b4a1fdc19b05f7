import { identifier, type Queries, transaction } from '../../postgres/connect.ts'
import { asksFor } from '../events/asks-for.ts'

/** Lists of deliveries include up to this many that wait for their first attempt, oldest first. */
const LISTED_MAX = 1000
/** Maximum number of events scanned to list or count them. */
const EVENTS_MAX = 10_000
/** Batch size. Assigning positions to new events waits for each batch. */
const BATCH_EVENTS = 1000

/**
 * SQL condition: the event `e` is due for the subscription `s` and has not been attempted, so it has no delivery row
 * (migration 0018). The subquery looks up one row; a join might read all deliveries of the subscription.
 */
export function isUntried(sql: Queries, communityId: number) {
  return sql`
    case when e.subscription_id is null then ${asksFor(sql, 'e')} else e.subscription_id = s.id end
    and (select true from deliveries d where d.community_id = ${communityId} and d.subscription_id = s.id
      and d.event_id = e.id) is null`
}

/** The oldest untried events after the position of the named cursor. */
export function untriedEvents(sql: Queries, communityId: number, cursor: string, eventsMax = EVENTS_MAX) {
  const done = identifier(`${cursor}.done_position`)
  return sql`
    events e where e.community_id = ${communityId} and e.position > ${done}
      and e.position <= least(${identifier(`${cursor}.wanted_position`)}, ${done} + ${eventsMax})
      and ${isUntried(sql, communityId)}`
}

/** Inserts delivery rows for untried events. They are due since the event, so newer rows do not overtake them. */
export async function insertUntriedDeliveries(
  sql: Queries,
  communityId: number,
  subscriptionId: number,
  { limit, eventsMax } = { limit: LISTED_MAX, eventsMax: EVENTS_MAX },
): Promise<void> {
  await sql`
    with locked_subscription as materialized (
      select s.id, s.event_types, k.done_position, k.wanted_position
      from subscriptions s join delivery_cursors k on k.community_id = ${communityId} and k.subscription_id = s.id
      where s.community_id = ${communityId} and s.id = ${subscriptionId} and k.done_position < k.wanted_position
      for key share of s
    )
    insert into deliveries (community_id, subscription_id, event_id, event_created_at, next_attempt_at, created_at)
    select ${communityId}, s.id, u.id, u.created_at, u.created_at, u.created_at
    from locked_subscription s, lateral (
      select e.id, e.created_at from ${untriedEvents(sql, communityId, 's', eventsMax)}
      order by e.position limit ${limit}) u
    order by u.id
    on conflict (community_id, subscription_id, event_id) do nothing`
}

/**
 * Inserts rows for all events that are due so far: before the event types or the status change, and when the receiver
 * fails. If there may be many, call it outside of a transaction first.
 */
export async function materializePending(sql: Queries, communityId: number, subscriptionId: number): Promise<void> {
  while (await transaction(sql, (tx) => materializeBatch(tx, communityId, subscriptionId)));
}

/** Returns whether there are more. */
async function materializeBatch(tx: Queries, communityId: number, subscriptionId: number): Promise<boolean> {
  // Lock the subscription first, in the same order as deleting it does.
  await tx`select from subscriptions where community_id = ${communityId} and id = ${subscriptionId} for key share`
  const [cursor] = await tx<{ events: number }[]>`
    select wanted_position - done_position as events from delivery_cursors
    where community_id = ${communityId} and subscription_id = ${subscriptionId} for no key update`
  if (!cursor || cursor.events <= 0) return false
  await insertUntriedDeliveries(tx, communityId, subscriptionId, { limit: BATCH_EVENTS, eventsMax: BATCH_EVENTS })
  await tx`
    update delivery_cursors set done_position = least(wanted_position, done_position + ${BATCH_EVENTS})
    where community_id = ${communityId} and subscription_id = ${subscriptionId}`
  return cursor.events > BATCH_EVENTS
}
