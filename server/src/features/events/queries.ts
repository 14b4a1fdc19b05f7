import { hideFromPlanner, limitRows } from '../../http/shared/page-queries.ts'
import type { Fragment, Queries } from '../../postgres/connect.ts'
import { EVENT_DAYS } from '../../postgres/prune.ts'
import { GONE_TYPES, type StoredEvent } from './render.ts'

export interface FeedRow extends StoredEvent {
  position: number
  uuid: string
  member_id: number | null
  created_at: string
}

/** Who reads events, and which types the reader's scopes allow. */
export interface Reader {
  partnerId: number
  types: string[]
}

/** SQL condition: whether the event `e` of the member `m` may be read. */
export function mayRead(sql: Queries, { partnerId, types }: Reader) {
  return sql`e.type = any (${types}::text[]) and ${isShownTo(sql, sql`${partnerId}`)}`
}

/** SQL condition: whether this partner may know of the event `e`. Hidden members are known by their leaving only. */
export function isShownTo(sql: Queries, partnerId: Fragment) {
  return sql`
    (m.id is null or m.visible or e.partner_id = ${partnerId} or e.type = any (${[...GONE_TYPES]}::text[]))`
}

/** The member `m` of each event `e`, by an index lookup each. As a join it read all events before the first was returned. */
export function lookUpMember(sql: Queries, communityId: number) {
  return sql`
    left join lateral (
      select id, visible from members where community_id = ${communityId} and id = e.member_id limit 1
    ) m on true`
}

/** Lists events by position. Positions are assigned after commit, so no event appears late. */
export async function listEvents(
  sql: Queries,
  communityId: number,
  page: Reader & { afterPosition: number; untilPosition: number; limit: number },
): Promise<FeedRow[]> {
  return sql<FeedRow[]>`
    select e.position, e.uuid, e.type, e.partner_id, e.member_id, e.data, e.created_at,
      coalesce(m.visible, true) as member_visible
    from events e ${lookUpMember(sql, communityId)}
    where e.community_id = ${communityId} and e.position > ${hideFromPlanner(sql, page.afterPosition)}
      and e.position <= ${hideFromPlanner(sql, page.untilPosition)}
      and e.subscription_id is null and ${mayRead(sql, page)}
    order by e.position ${limitRows(sql, page.limit)}`
}

export interface FeedHead {
  position: number
  pruned_position: number
  /** Now, by the clock that stamps events. */
  at: string
  /** Events from before this time may have been pruned. */
  retained_since: string
}

export async function findHead(sql: Queries, communityId: number): Promise<FeedHead> {
  const [row] = await sql<[FeedHead]>`
    select coalesce(max(position), 0) as position, coalesce(max(pruned_position), 0) as pruned_position,
      now() as at, now() - make_interval(days => ${EVENT_DAYS}) as retained_since
    from event_heads where community_id = ${communityId}`
  return row
}
