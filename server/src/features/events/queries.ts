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

/** SQL condition: whether the event `e` may be read, beside `lookUpSubject`. */
export function mayRead(sql: Queries, { partnerId, types }: Reader) {
  return sql`e.type = any (${types}::text[]) and ${isShownTo(sql, sql`m.visible is not false`, sql`${partnerId}`)}`
}

/** SQL condition: whether this partner may know of the event `e`. What is hidden is known by its leaving only. */
export function isShownTo(sql: Queries, isVisible: Fragment, partnerId: Fragment) {
  return sql`
    (${isVisible} or e.partner_id = ${partnerId} or e.type = any (${[...GONE_TYPES]}::text[]))`
}

/**
 * Of each event `e`, whether partners can see its member now, and its listing if it has one: `m.visible`, null if it is
 * about neither. By an index lookup each: as a join it read all events before the first was returned.
 */
export function lookUpSubject(sql: Queries, communityId: number) {
  return sql`
    left join lateral (
      select visible and (e.listing_id is null or exists (
        select 1 from listings where community_id = ${communityId} and id = e.listing_id and visible)) as visible
      from members where community_id = ${communityId} and id = e.member_id limit 1
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
      coalesce(m.visible, true) as subject_visible
    from events e ${lookUpSubject(sql, communityId)}
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
