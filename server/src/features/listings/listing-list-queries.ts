import type { Fragment, Queries } from '../../postgres/connect.ts'
import { COUNTED_MAX, SORTED_MAX, type Total } from '../../http/console/office-lists.ts'
import { hideFromPlanner } from '../../http/shared/page-queries.ts'
import type { ListRequest } from '../../http/shared/paging.ts'
import { officeListingColumns, type OfficeListingRow } from './admin-queries.ts'

export interface OfficeListingFilters {
  q?: string
  type?: string
  category?: string
  status?: string
  member_id?: number
}

export type ListingSort = 'title' | '-title'

type Page = Pick<ListRequest, 'limit' | 'after'>

/** Number of the newest listings that a search scans before it falls back to the full-text index. */
const NEWEST_SCAN_ROWS = 500
/** Number of the newest listings among which a very common word is counted. */
const COMMON_SCAN_ROWS = 2 * SORTED_MAX

/** Lists the newest first, or by title. Listings of erased members are left out, because their content is gone. */
export async function listOfficeListings(
  sql: Queries,
  communityId: number,
  page: Page,
  filters: OfficeListingFilters,
  { sort, withTotal = false }: { sort?: ListingSort | undefined; withTotal?: boolean } = {},
): Promise<{ rows: OfficeListingRow[]; total?: Total | undefined }> {
  const total = withTotal ? await countListings(sql, communityId, filters) : undefined
  const ids = await findPlaces(sql, communityId, page, filters, sort, total)
  return { rows: await readListings(sql, communityId, ids), total }
}

/**
 * Few matches of a filter are read by its index and sorted; many are met soon while the index of the order is read
 * (decision 31).
 */
async function findPlaces(
  sql: Queries,
  communityId: number,
  page: Page,
  filters: OfficeListingFilters,
  sort: ListingSort | undefined,
  known: Total | undefined,
): Promise<number[]> {
  const walk = (newestRows?: number) => walkInOrder(sql, communityId, page, filters, sort, newestRows)
  const filter = indexedFilter(filters)
  if (filter === undefined || (filter.isInOrder && sort === undefined)) return walk()
  if (sort === undefined) {
    const newest = await walk(NEWEST_SCAN_ROWS)
    if (newest.length > page.limit) return newest
  }
  const { counted } = known ?? (await countListings(sql, communityId, filters))
  return counted > SORTED_MAX ? walk() : sortMatches(sql, communityId, page, filters, sort)
}

/** A filter with an index of its own; `isInOrder` if that index has the order of ids, too. */
function indexedFilter({ q, member_id, status, category }: OfficeListingFilters): { isInOrder: boolean } | undefined {
  if (q !== undefined) return { isInOrder: false }
  const isIndexed = member_id !== undefined || status === 'closed' || category !== undefined
  return isIndexed ? { isInOrder: true } : undefined
}

/** The listings that a filter's index finds, and a few that do not fit. The words contain the community (migration 0011). */
function found(sql: Queries, communityId: number, { q }: OfficeListingFilters): Fragment {
  if (q === undefined) return sql`listings`
  const words = sql`to_tsquery('simple', ${prefixQuery(q)})`
  return sql`
    (select * from listings
    where listing_words(community_id, search) @@ (select listing_query(${communityId}, ${words})) offset 0)`
}

async function sortMatches(
  sql: Queries,
  communityId: number,
  { limit, after }: Page,
  filters: OfficeListingFilters,
  sort: ListingSort | undefined,
): Promise<number[]> {
  const rows = await sql<{ id: number }[]>`
    select id from (
      select l.id, l.title from ${found(sql, communityId, filters)} l
      where ${conditions(sql, communityId, filters)} limit ${SORTED_MAX + 1}
    ) l
    where true ${start(sql, sort, after)} order by ${direction(sql, sort)} limit ${limit + 1}`
  return rows.map(({ id }) => id)
}

async function walkInOrder(
  sql: Queries,
  communityId: number,
  { limit, after }: Page,
  filters: OfficeListingFilters,
  sort: ListingSort | undefined,
  newestRows?: number,
): Promise<number[]> {
  const place = start(sql, sort, after)
  const listings = newestRows === undefined ? sql`listings` : newestListings(sql, communityId, newestRows, place)
  // With the title, the index of members cannot answer alone: a page by id was made by sorting all of that index.
  const rows = await sql<{ id: number }[]>`
    select l.id, l.title from ${listings} l
    where ${conditions(sql, communityId, filters, { isByIndex: sort === undefined })} ${place}
    order by ${direction(sql, sort)} limit ${hideFromPlanner(sql, limit + 1)}`
  return rows.map(({ id }) => id)
}

/** Counts up to one more than the maximum, which is lower with a filter: its matches are read row by row. */
async function countListings(sql: Queries, communityId: number, filters: OfficeListingFilters): Promise<Total> {
  const max = indexedFilter(filters) === undefined ? COUNTED_MAX : SORTED_MAX
  const isFiltered = Object.values(filters).some((value) => value !== undefined)
  const count = async (listings: Fragment, order: Fragment = sql``) => {
    const [row] = await sql<[{ count: number }]>`
      select count(*) from (
        select 1 from ${listings} l where ${conditions(sql, communityId, filters)} ${order}
        limit ${hideFromPlanner(sql, max + 1)}) counted`
    return { counted: row.count, max }
  }
  // Without an order, all entries of an index were collected first, whichever index that was.
  if (filters.q === undefined) return count(sql`listings`, isFiltered ? sql`order by l.id desc` : sql``)
  // A word of almost every listing is met often enough among the newest; its index has an entry for each of them.
  const newest = await count(newestListings(sql, communityId, COMMON_SCAN_ROWS))
  return newest.counted > max ? newest : count(found(sql, communityId, filters))
}

function newestListings(sql: Queries, communityId: number, rows: number, after?: Fragment): Fragment {
  return sql`
    (select * from listings l where community_id = ${communityId} ${after ?? sql``}
    order by id desc limit ${hideFromPlanner(sql, rows)})`
}

const sortKey = (sql: Queries) => sql`sort_name(l.title) collate "C"`

function start(sql: Queries, sort: ListingSort | undefined, after: Page['after']): Fragment {
  if (after === undefined) return sql``
  const id = hideFromPlanner(sql, after.id)
  if (sort === undefined) return sql`and l.id < ${id}`
  return sql`and (${sortKey(sql)}, l.id) ${sort === 'title' ? sql`>` : sql`<`} ((select ${after.key!}::text), ${id})`
}

function direction(sql: Queries, sort: ListingSort | undefined): Fragment {
  if (sort === undefined) return sql`l.id desc`
  return sort === 'title' ? sql`${sortKey(sql)}, l.id` : sql`${sortKey(sql)} desc, l.id desc`
}

/**
 * Few members are erased: their ids are read once. As a join, every listing's member was looked up. A walk by title hides
 * its conditions, because the planner would rather sort everything that their indexes find.
 */
function conditions(
  sql: Queries,
  communityId: number,
  { q, type, category, status, member_id }: OfficeListingFilters,
  { isByIndex = true } = {},
): Fragment {
  const and = (condition: Fragment) => (isByIndex ? sql`and ${condition}` : sql`and (${condition}) is true`)
  return sql`
    l.community_id = ${communityId}
    and l.member_id not in (select id from members where community_id = ${communityId} and erased_at is not null)
    ${q === undefined ? sql`` : sql`and l.search @@ to_tsquery('simple', ${prefixQuery(q)})`}
    ${type === undefined ? sql`` : sql`and l.type = ${type}`}
    ${category === undefined ? sql`` : and(sql`l.category = ${category}`)}
    ${status === 'closed' ? and(sql`l.status = 'closed'`) : status === undefined ? sql`` : and(sql`l.status = 'active'`)}
    ${member_id === undefined ? sql`` : and(sql`l.member_id = ${member_id}`)}`
}

/**
 * Letters and digits, with what PostgreSQL keeps in its words: the marks on them, such as accents and the vowels of many
 * scripts, and invisible joiners between them.
 */
const WORDS = /[\p{L}\p{N}](?:\p{Cf}*[\p{L}\p{N}\p{M}])*/gu

/** Matches all words by prefix. Nothing else reaches the query. */
function prefixQuery(text: string): string {
  return (text.match(WORDS) ?? []).map((word) => `${word}:*`).join(' & ')
}

/** Looks up each id by index, in this order (decision 17). */
async function readListings(sql: Queries, communityId: number, ids: number[]): Promise<OfficeListingRow[]> {
  return sql<OfficeListingRow[]>`
    select ${officeListingColumns(sql)}
    from unnest((select ${ids}::int8[])) with ordinality as i(id, n), lateral (
      select * from listings s where s.community_id = ${communityId} and s.id = i.id limit 1
    ) l, lateral (
      select name, status, hidden from members where community_id = ${communityId} and id = l.member_id limit 1
    ) m
    order by i.n`
}
