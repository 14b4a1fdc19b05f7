import { asksFor } from '../features/events/asks-for.ts'
import { markDue, type MarkedQueue } from '../features/subscriptions/mark-due.ts'
import { transaction, type Queries, type Sql } from '../postgres/connect.ts'

/** Bounds the transaction: other communities wait for it. */
export const FAN_OUT_MAX = 100
/** Another node finishes the same community within milliseconds; one that hangs must not delay the others. */
const LOCK_TIMEOUT = '2s'

export interface FanOut {
  events: number
  /** The queues of the subscriptions that got deliveries. */
  queues: MarkedQueue[]
}

interface NewEvent {
  id: number
  created_at: string
  type: string
  /** Set for an event that goes only to this subscription. */
  subscription_id: number | null
}

/**
 * Gives committed events their position and inserts a pending delivery for each matching subscription, one node at a
 * time per community. Ids are assigned before commit, so a reader that followed ids would skip what commits late.
 */
export async function fanOut(sql: Sql, communityId: number, now: Date): Promise<FanOut> {
  return transaction(sql, async (tx) => {
    // Take the lock before the statement that reads: its snapshot then includes what the previous holder committed.
    const [, , [head]] = await Promise.all([
      tx`select set_config('lock_timeout', ${LOCK_TIMEOUT}, true)`,
      tx`insert into event_heads (community_id) values (${communityId}) on conflict (community_id) do nothing`,
      tx<[{ position: number }]>`select position from event_heads where community_id = ${communityId} for update`,
    ])
    // Events locked by an erasure are left for the next round.
    const events = await tx<NewEvent[]>`
      select id, created_at, type, subscription_id from events
      where community_id = ${communityId} and position is null
      order by id limit ${FAN_OUT_MAX} for no key update skip locked`
    if (events.length === 0) return { events: 0, queues: [] }
    await assignPositions(tx, communityId, events, head.position)
    const matches = await lockMatches(tx, communityId, events)
    if (matches.length === 0) return { events: events.length, queues: [] }
    await insertDeliveries(tx, communityId, events, matches, now)
    const queues = await markDue(tx, communityId, [...new Set(matches.map(({ id }) => id))], now)
    return { events: events.length, queues }
  })
}

async function assignPositions(tx: Queries, communityId: number, events: NewEvent[], position: number): Promise<void> {
  await tx`
    with placed as (
      update events e set position = ${position}::int8 + i.n
      from ${eventRows(tx, events)}
      where e.community_id = ${communityId} and e.created_at = i.created_at and e.id = i.id
    )
    update event_heads set position = ${position + events.length} where community_id = ${communityId}`
}

interface Match {
  id: number
  type: string
  subscription_id: number | null
  /** Of a disabled subscription: it gets events from before that moment only. */
  disabled_at: string | null
}

/**
 * Compares patterns once per type instead of per event. Waits for a subscription that is being deleted. An event is as
 * old as its transaction, so one from before a subscription was disabled may come after that, and a replay of what it
 * missed while it was disabled would not find it.
 */
async function lockMatches(tx: Queries, communityId: number, events: NewEvent[]): Promise<Match[]> {
  return tx<Match[]>`
    select s.id, t.type, t.subscription_id,
      case when t.subscription_id is null and s.status = 'disabled' then s.status_changed_at end as disabled_at
    from (
      select i.type, i.subscription_id, min(i.created_at) as created_at from ${eventRows(tx, events)}
      group by i.type, i.subscription_id
    ) t
    join subscriptions s on s.community_id = ${communityId}
      and case when t.subscription_id is not null then s.id = t.subscription_id
        else (s.status <> 'disabled' or s.status_changed_at > t.created_at) and ${asksFor(tx, 't')} end
    order by s.id for key share of s`
}

async function insertDeliveries(
  tx: Queries,
  communityId: number,
  events: NewEvent[],
  matches: Match[],
  now: Date,
): Promise<void> {
  await tx`
    insert into deliveries (community_id, subscription_id, event_id, event_created_at, next_attempt_at, created_at)
    select ${communityId}, m.id, i.id, i.created_at, ${now}, ${now}
    from ${eventRows(tx, events)}
    join unnest(${matches.map(({ id }) => id)}::int8[], ${matches.map(({ type }) => type)}::text[],
      ${matches.map((match) => match.subscription_id)}::int8[], ${matches.map((match) => match.disabled_at)}::timestamptz[])
      as m(id, type, subscription_id, disabled_at)
      on m.type = i.type and m.subscription_id is not distinct from i.subscription_id
        and (m.disabled_at is null or i.created_at < m.disabled_at)
    order by m.id, i.n
    on conflict (community_id, subscription_id, event_id) do nothing`
}

function eventRows(tx: Queries, events: NewEvent[]) {
  return tx`unnest(${events.map(({ id }) => id)}::int8[], ${events.map((event) => event.created_at)}::timestamptz[],
    ${events.map(({ type }) => type)}::text[], ${events.map((event) => event.subscription_id)}::int8[])
    with ordinality as i(id, created_at, type, subscription_id, n)`
}
