import type { Queries } from '../../postgres/connect.ts'
import { changedSince, limitRows } from '../../http/shared/page-queries.ts'
import type { ListRequest } from '../../http/shared/paging.ts'

export type RemovalType = 'user' | 'listing'

export interface RemovalRow {
  id: number
  type: RemovalType
  resource_id: number
  removed_at: string
}

/** Records that partners can no longer see these resources. */
export async function recordRemoval(
  sql: Queries,
  communityId: number,
  type: RemovalType,
  ids: number[],
): Promise<void> {
  await sql`
    insert into removals (community_id, type, resource_id, removed_at)
    select ${communityId}, ${type}, id, (select stamp_change(${communityId})) from unnest(${ids}::int8[]) as i(id)
    on conflict (community_id, type, resource_id) do update set removed_at = excluded.removed_at`
}

/** Whether partners could see this resource once, and no longer can. */
export async function isRemoved(sql: Queries, communityId: number, type: RemovalType, id: number): Promise<boolean> {
  const rows = await sql`
    select 1 from removals where community_id = ${communityId} and type = ${type} and resource_id = ${id}`
  return rows.length > 0
}

/** Deletes the removals of resources that partners can see again. */
export async function deleteRemoval(
  sql: Queries,
  communityId: number,
  type: RemovalType,
  ids: number[],
): Promise<void> {
  await sql`
    delete from removals
    where community_id = ${communityId} and type = ${type} and resource_id = any (${ids}::int8[])`
}

export async function listRemovals(
  sql: Queries,
  communityId: number,
  list: ListRequest,
  types: RemovalType[],
): Promise<RemovalRow[]> {
  // Reads one page per type and merges them, because the index is ordered only within a type.
  return sql<RemovalRow[]>`
    select r.* from unnest(${types}::text[]) as t(wanted_type), lateral (
      select id, type, resource_id, removed_at from removals
      where community_id = ${communityId} and type = t.wanted_type and ${changedSince(sql, 'removed_at', list)}
      order by removed_at, id ${limitRows(sql, list.limit)}
    ) r
    order by r.removed_at, r.id ${limitRows(sql, list.limit)}`
}
