import type { Queries } from '../../postgres/connect.ts'
import type { ListRequest } from '../../http/shared/paging.ts'
import { columns, conditions, type ListingFilters, type ListingRow } from './queries.ts'

/** Read through first: a word that stands in every tenth listing fills a page with these. */
const NEAR_ROWS = 500
/** So many matches are sorted; a word with more of them stands in every two-hundredth of a million listings. */
const FEW_MAX = 5000
/** Read through for such a word. */
const FAR_ROWS = 50_000

/**
 * Listings with these words, by id. The planner has no idea how many there are: left alone it walks a million listings
 * in the order of their ids until it has found the 26 of a rare word (2.6 s), or sorts all 28,000 of a common one
 * (0.5 s). So each way is tried as far as it is cheap, and the next is taken only if it did not suffice; all in one
 * statement, which skips what is not needed. In a million listings about 3 ms for 60 matches.
 */
export async function searchListings(
  sql: Queries,
  communityId: number,
  { limit, after }: Pick<ListRequest, 'limit' | 'after'>,
  filters: ListingFilters & { q: string },
): Promise<ListingRow[]> {
  const wanted = limit + 1
  const place = sql`community_id = ${communityId} and visible and id > ${after?.id ?? 0}`
  const narrowed = conditions(sql, filters)
  const window = (rows: number) => sql`
    (select id, type, category, member_id, search from listings
    where community_id = ${communityId} and visible and id > ${after?.id ?? 0} order by id limit ${rows}) w`
  // The fence keeps the planner from joining in the index of the whole community. The index of words may give some that
  // do not fit (migration 0011), so they are judged once more outside. As a subquery, so that one plan fits all words:
  // made for each word anew, it took longer than the search.
  const matching = sql`
    (select community_id, id, visible, type, category, member_id, search from listings
    where listing_words(community_id, search)
      @@ (select listing_query(${communityId}, websearch_to_tsquery('simple', ${filters.q}))) offset 0) m`
  return sql<ListingRow[]>`
    with near as materialized (
      select id from ${window(NEAR_ROWS)} where true ${narrowed} order by id limit ${wanted}
    ), few as materialized (
      select id from ${matching} where ${place} ${narrowed} and (select count(*) from near) < ${wanted}
      limit ${FEW_MAX + 1}
    ), far as materialized (
      select id from ${window(FAR_ROWS)} where (select count(*) from few) > ${FEW_MAX} ${narrowed}
      order by id limit ${wanted}
    ), every as materialized (
      select id from ${matching} where ${place} ${narrowed}
        and (select count(*) from few) > ${FEW_MAX} and (select count(*) from far) < ${wanted}
      order by id limit ${wanted}
    ), found as (
      select id from near where (select count(*) from near) = ${wanted}
      union all select id from few where (select count(*) from few) <= ${FEW_MAX}
      union all select id from far where (select count(*) from far) = ${wanted}
      union all select id from every
    )
    select l.* from (select id as found_id from found order by id limit ${wanted}) f, lateral (
      select ${columns(sql)} from listings where community_id = ${communityId} and id = f.found_id limit 1
    ) l
    order by l.id`
}
