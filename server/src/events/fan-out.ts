import { transaction, type Sql } from '../db/connect.ts'

const EVENTS_MAX = 500

/**
 * Gives committed events their position and makes their deliveries, one node at a time per community. Returns how many.
 * Ids are given out before commit, so a reader who followed ids would skip whatever commits late.
 */
export async function fanOut(sql: Sql, communityId: number, now: Date): Promise<number> {
  return transaction(sql, async (tx) => {
    await tx`
      insert into event_heads (community_id) values (${communityId}) on conflict (community_id) do nothing`
    // The lock comes before the statement that reads: its snapshot then sees what the former holder committed.
    await tx`select from event_heads where community_id = ${communityId} for update`
    const [row] = await tx<[{ count: number }]>`
      with ordered as materialized (
        select e.id, e.created_at, e.type, e.subscription_id, h.position + row_number() over (order by e.id) as position
        from events e join event_heads h on h.community_id = ${communityId}
        where e.community_id = ${communityId} and e.position is null
        order by e.id limit ${EVENTS_MAX}
      ), placed as (
        update events e set position = o.position from ordered o
        where e.community_id = ${communityId} and e.created_at = o.created_at and e.id = o.id
      ), moved as (
        update event_heads set position = greatest(position, (select coalesce(max(position), 0) from ordered))
        where community_id = ${communityId}
      ), made as (
        insert into deliveries (community_id, subscription_id, event_id, event_created_at, next_attempt_at, created_at)
        select ${communityId}, s.id, o.id, o.created_at, ${now}, ${now}
        from ordered o join subscriptions s on s.community_id = ${communityId} and s.status <> 'disabled'
          and case when o.subscription_id is not null then s.id = o.subscription_id
            else exists (select from unnest(s.event_types) as t(pattern) where t.pattern = '*' or t.pattern = o.type
              or (t.pattern like '%.*' and starts_with(o.type, left(t.pattern, -1)))) end
        order by o.position, s.id
        on conflict (community_id, subscription_id, event_id) do nothing
      )
      select count(*) from ordered`
    return row.count
  })
}
