import { transaction, type Sql } from '../postgres/connect.ts'
import { asksFor } from '../features/events/asks-for.ts'

/** About 30 ms with sixteen receivers that fail. Other communities wait for it. */
export const FAN_OUT_MAX = 100
/** Another node at the same community is done within milliseconds; one that hangs must not hold up the others. */
const LOCK_TIMEOUT = '2s'

/**
 * Gives committed events their position and has subscriptions told of them, one node at a time per community. Returns
 * how many. Ids are given out before commit, so a reader who followed ids would skip whatever commits late.
 *
 * Who is well is sent them soon: that its cursor moves is all it takes (migration 0018). For the others, who may stay
 * behind for long, rows are made, which can be counted, listed and searched for what is due.
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
        -- Once for each type, not for each event. Who is being deleted is waited for, so that no cursor outlives it.
        select t.*, s.id, s.status = 'active' and s.failing_since is null and c.partner_api_enabled as is_well
        from (
          select type, subscription_id, min(position) as first_position, max(position) as last_position
          from ordered group by type, subscription_id
        ) t
        join communities c on c.id = ${communityId}
        join subscriptions s on s.community_id = ${communityId}
          and case when t.subscription_id is not null then s.id = t.subscription_id
            else s.status <> 'disabled' and ${asksFor(tx, 't')} end
        for key share of s
      ), wished as (
        insert into delivery_cursors as k (community_id, subscription_id, done_position, wanted_position)
        select ${communityId}, id, min(first_position) - 1, max(last_position) from wanted
        where is_well group by id order by id
        on conflict (community_id, subscription_id) do update set wanted_position = excluded.wanted_position,
          -- Between what it was told of last and this there is nothing for it.
          done_position = case when k.done_position = k.wanted_position then excluded.done_position else k.done_position end
      ), made as (
        insert into deliveries (community_id, subscription_id, event_id, event_created_at, next_attempt_at, created_at)
        select ${communityId}, s.id, o.id, o.created_at, ${now}, ${now}
        from ordered o join wanted s on s.type = o.type and s.subscription_id is not distinct from o.subscription_id
        where not s.is_well
        order by s.id, o.id
        on conflict (community_id, subscription_id, event_id) do nothing
      )
      select count(*) from ordered`
    return row.count
  })
}
