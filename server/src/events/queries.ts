import type { Queries } from '../db/connect.ts'
import type { StoredEvent } from './render.ts'

export interface FeedRow extends StoredEvent {
  position: number
  uuid: string
  member_id: number | null
  created_at: string
}

/** In order of position, which is given after commit: nothing comes late. */
export async function listEvents(
  sql: Queries,
  communityId: number,
  page: { afterPosition: number; limit: number; types: string[] },
): Promise<FeedRow[]> {
  return sql<FeedRow[]>`
    select position, uuid, type, partner_id, member_id, data, created_at from events
    where community_id = ${communityId} and position > ${page.afterPosition} and subscription_id is null
      and type = any (${page.types}::text[])
    order by position limit ${page.limit + 1}`
}

export async function findHead(
  sql: Queries,
  communityId: number,
): Promise<{ position: number; pruned_position: number }> {
  const [row] = await sql<{ position: number; pruned_position: number }[]>`
    select position, pruned_position from event_heads where community_id = ${communityId}`
  return row ?? { position: 0, pruned_position: 0 }
}
