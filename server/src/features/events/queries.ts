import { hideFromPlanner, limitRows } from '../../http/shared/page-queries.ts'
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
    from events e left join members m on m.community_id = ${communityId} and m.id = e.member_id
    where e.community_id = ${communityId} and e.position > ${hideFromPlanner(sql, page.afterPosition)}
      and e.position <= ${hideFromPlanner(sql, page.untilPosition)}
      and e.subscription_id is null and e.type = any (${page.types}::text[])
      and (m.id is null or m.visible or e.partner_id = ${page.partnerId} or e.type = any (${[...GONE_TYPES]}::text[]))
    order by e.position ${limitRows(sql, page.limit)}`
}

export async function findHead(
  sql: Queries,
  communityId: number,
): Promise<{ position: number; pruned_position: number }> {
  const [row] = await sql<{ position: number; pruned_position: number }[]>`
    select position, pruned_position from event_heads where community_id = ${communityId}`
  return row ?? { position: 0, pruned_position: 0 }
}
