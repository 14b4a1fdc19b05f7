import type { Queries } from '../../postgres/connect.ts'
import { GONE_TYPES, type StoredEvent } from './render.ts'

export interface FeedRow extends StoredEvent {
  position: number
  uuid: string
  member_id: number | null
  created_at: string
}

/** Lists events by position. Positions are assigned after commit, so no event appears late. */
export async function listEvents(
  sql: Queries,
  communityId: number,
  page: { afterPosition: number; untilPosition: number; limit: number; types: string[]; partnerId: number },
): Promise<FeedRow[]> {
  return sql<FeedRow[]>`
    select e.position, e.uuid, e.type, e.partner_id, e.member_id, e.data, e.created_at, true as member_visible
    from events e
    where e.community_id = ${communityId} and e.position > ${page.afterPosition} and e.position <= ${page.untilPosition}
      and e.subscription_id is null and e.type = any (${page.types}::text[])
      and (e.partner_id = ${page.partnerId} or e.type = any (${[...GONE_TYPES]}::text[])
        -- Not a join: with 10,000 members the planner joined all events before it took a page.
        or coalesce((
          select m.visible from members m where m.community_id = ${communityId} and m.id = e.member_id), true))
    order by e.position limit ${page.limit + 1}`
}

export async function findHead(
  sql: Queries,
  communityId: number,
): Promise<{ position: number; pruned_position: number }> {
  const [row] = await sql<{ position: number; pruned_position: number }[]>`
    select position, pruned_position from event_heads where community_id = ${communityId}`
  return row ?? { position: 0, pruned_position: 0 }
}
