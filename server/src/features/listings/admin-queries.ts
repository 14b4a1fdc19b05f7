import { transaction, type Queries } from '../../postgres/connect.ts'
import type { ListRequest } from '../../http/shared/paging.ts'
import { recordColumns, type ListingRecord } from './queries.ts'

/** A listing as administrators see it, with its member. */
export interface OfficeListingRow extends ListingRecord {
  member_name: string
  member_status: 'active' | 'inactive'
  member_hidden: boolean
}

export interface OfficeListingFilters {
  q?: string
  type?: string
  category?: string
  status?: string
  member_id?: number
}

const columns = (sql: Queries) => sql`
  ${recordColumns(sql, sql`l.`)}, m.name as member_name, m.status as member_status, m.hidden as member_hidden`

/** Lists the newest first. Listings of erased members are left out, because their content is gone. */
export async function listOfficeListings(
  sql: Queries,
  communityId: number,
  { limit, after }: ListRequest,
  { q, type, category, status, member_id }: OfficeListingFilters,
): Promise<OfficeListingRow[]> {
  const words = q === undefined ? undefined : prefixQuery(q)
  return transaction(sql, async (tx) => {
    // The full-text index is keyed by community and may return false positives (migration 0011), so both are needed.
    const matching =
      words === undefined
        ? tx``
        : tx`and l.search @@ to_tsquery('simple', ${words})
            and listing_words(l.community_id, l.search) @@ listing_query(${communityId}, to_tsquery('simple', ${words}))`
    // The best plan depends on whether the word is rare or common, so a generic plan suits neither.
    if (words !== undefined) await tx`set local plan_cache_mode = force_custom_plan`
    return tx<OfficeListingRow[]>`
      select ${columns(tx)} from listings l
      join members m on m.community_id = ${communityId} and m.id = l.member_id
      where l.community_id = ${communityId} and m.erased_at is null
        ${after ? tx`and l.id < ${after.id}` : tx``}
        ${matching}
        ${type === undefined ? tx`` : tx`and l.type = ${type}`}
        ${category === undefined ? tx`` : tx`and l.category = ${category}`}
        ${status === undefined ? tx`` : tx`and l.status = ${status}`}
        ${member_id === undefined ? tx`` : tx`and l.member_id = ${member_id}`}
      order by l.id desc limit ${limit + 1}`
  })
}

/** Matches all words by prefix. Only letters and digits reach the query. */
function prefixQuery(text: string): string {
  return text
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean)
    .map((word) => `${word}:*`)
    .join(' & ')
}

export async function findOfficeListing(
  sql: Queries,
  communityId: number,
  id: number,
): Promise<OfficeListingRow | undefined> {
  const [row] = await sql<OfficeListingRow[]>`
    select ${columns(sql)} from listings l
    join members m on m.community_id = ${communityId} and m.id = l.member_id
    where l.community_id = ${communityId} and l.id = ${id} and m.erased_at is null`
  return row
}
