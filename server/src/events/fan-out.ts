import { transaction, type Sql } from '../db/connect.ts'

/** About 30 ms with sixteen receivers. Other communities wait for it, and what completes meanwhile cannot be cleaned up. */
export const FAN_OUT_MAX = 100
/** Another node at the same community is done within milliseconds; one that hangs must not hold up the others. */
const LOCK_TIMEOUT = '2s'

/**
 * Gives committed events their position and makes their deliveries, one node at a time per community. Returns how many.
 * Ids are given out before commit, so a reader who followed ids would skip whatever commits late.
 */
export async function fanOut(sql: Sql, communityId: number, now: Date): Promise<number> {
  return transaction(sql, async (tx) => {
    // The lock comes before the statement that reads: its snapshot then sees what the former holder committed.
    await Promise.all([
      tx`select set_config('lock_timeout', ${LOCK_TIMEOUT}, true)`,
      tx`insert into event_heads (community_id) values (${communityId}) on conflict (community_id) do nothing`,
      tx`select from event_heads where community_id = ${communityId} for update`,
    ])
    // What an erasure is just blanking comes with the next round.
    const [row] = await tx<[{ count: number }]>`
      with ordered as materialized (
        select e.*, h.position + row_number() over (order by e.id) as position
        from event_heads h, (
          select id, created_at, type, subscription_id from events
          where community_id = ${communityId} and position is null
          order by id limit ${FAN_OUT_MAX} for no key update skip locked
        ) e
        where h.community_id = ${communityId}
      ), placed as (
        update events e set position = o.position from ordered o
        where e.community_id = ${communityId} and e.created_at = o.created_at and e.id = o.id
      ), moved as (
        update event_heads set position = greatest(position, (select coalesce(max(position), 0) from ordered))
        where community_id = ${communityId}
      ), wanted as materialized (
        -- Once for each type, not for each event.
        select t.type, t.subscription_id as only_id, s.id
        from (select distinct type, subscription_id from ordered) t
        join subscriptions s on s.community_id = ${communityId}
          and case when t.subscription_id is not null then s.id = t.subscription_id
            else s.status <> 'disabled' and exists (
              select from unnest(s.event_types) as p(pattern) where p.pattern = '*' or p.pattern = t.type
                or (p.pattern like '%.*' and starts_with(t.type, left(p.pattern, -1)))) end
      ), made as (
        insert into deliveries (community_id, subscription_id, event_id, event_created_at, next_attempt_at, created_at)
        select ${communityId}, s.id, o.id, o.created_at, ${now}, ${now}
        from ordered o join wanted s on s.type = o.type and s.only_id is not distinct from o.subscription_id
        order by o.position, s.id
        on conflict (community_id, subscription_id, event_id) do nothing
      )
      select count(*) from ordered`
    return row.count
  })
}
