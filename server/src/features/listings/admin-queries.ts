import { transaction, type Fragment, type Queries } from '../../postgres/connect.ts'
import { COUNTED_MAX, type Total } from '../../http/console/office-lists.ts'
import type { ListRequest } from '../../http/shared/paging.ts'
import { recordColumns, type ListingRecord } from './queries.ts'

/** A listing as administrators see it, with its member. */
export interface OfficeListingRow extends ListingRecord {
  member_name: string
  member_status: 'active' | 'inactive'
  member_hidden: boolean
  sort_key: string
}

export interface OfficeListingFilters {
  q?: string
  type?: string
  category?: string
  status?: string
  member_id?: number
}

const columns = (sql: Queries) => sql`
  ${recordColumns(sql, sql`l.`)}, m.name as member_name, m.status as member_status, m.hidden as member_hidden,
  sort_name(l.title) as sort_key`

export type ListingSort = 'title' | '-title'

/** Lists the newest first, or by title. Listings of erased members are left out, because their content is gone. */
export async function listOfficeListings(
  sql: Queries,
  communityId: number,
  { limit, after }: Pick<ListRequest, 'limit' | 'after'>,
  filters: OfficeListingFilters,
  sort?: ListingSort,
): Promise<OfficeListingRow[]> {
  const key = sql`sort_name(l.title) collate "C"`
  const isDescending = sort !== 'title'
  const order = sort === undefined ? sql`l.id desc` : isDescending ? sql`${key} desc, l.id desc` : sql`${key}, l.id`
  const start =
    after === undefined
      ? sql``
      : sort === undefined
        ? sql`and l.id < ${after.id}`
        : sql`and (${key}, l.id) ${isDescending ? sql`<` : sql`>`} (${after.key!}, ${after.id})`
  return selectListings(
    sql,
    communityId,
    filters,
    (matching) => sql`
      select ${columns(sql)} from listings l
      join members m on m.community_id = ${communityId} and m.id = l.member_id
      where l.community_id = ${communityId} and m.erased_at is null ${start} ${matching}
      order by ${order} limit ${limit + 1}`,
  )
}

/** Counts up to one more than the maximum. */
export async function countOfficeListings(
  sql: Queries,
  communityId: number,
  filters: OfficeListingFilters,
): Promise<Total> {
  const [row] = await selectListings<{ count: number }>(
    sql,
    communityId,
    filters,
    (matching) => sql`
      select count(*) from (
        select 1 from listings l join members m on m.community_id = ${communityId} and m.id = l.member_id
        where l.community_id = ${communityId} and m.erased_at is null ${matching} limit ${COUNTED_MAX + 1}) counted`,
  )
  return { counted: row!.count, max: COUNTED_MAX }
}

async function selectListings<Row extends object = OfficeListingRow>(
  sql: Queries,
  communityId: number,
  { q, type, category, status, member_id }: OfficeListingFilters,
  statement: (matching: Fragment) => Fragment,
): Promise<Row[]> {
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
    return tx<Row[]>`
      ${statement(tx`
        ${matching}
        ${type === undefined ? tx`` : tx`and l.type = ${type}`}
        ${category === undefined ? tx`` : tx`and l.category = ${category}`}
        ${status === undefined ? tx`` : tx`and l.status = ${status}`}
        ${member_id === undefined ? tx`` : tx`and l.member_id = ${member_id}`}`)}`
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
