import type { Queries } from '../../postgres/connect.ts'
import type { ListRequest } from '../../http/shared/paging.ts'
import { partnerColumns, filterConditions, type ListingFilters, type ListingRow } from './queries.ts'

/** Rows scanned first. A word in every tenth listing fills a page from these. */
const NEAR_ROWS = 500
/** Up to this many matches are sorted. In a million listings, a word with more occurs in one of 200. */
const FEW_MAX = 5000
/** Rows scanned for such a common word. */
const FAR_ROWS = 50_000

/**
 * Finds listings that contain these words, by id. The planner cannot estimate how many match: on its own it scans a
 * million listings in id order until it finds the 26 matches of a rare word (2.6 s), or sorts all 28,000 matches of a
 * common one (0.5 s). So the statement tries each strategy within a fixed budget and continues with the next only if
 * that was not enough. With a million listings, 60 matches take about 3 ms.
 */
export async function searchListings(
  sql: Queries,
  communityId: number,
  { limit, after }: Pick<ListRequest, 'limit' | 'after'>,
  filters: ListingFilters & { q: string },
): Promise<ListingRow[]> {
  const wanted = limit + 1
  const afterCursor = sql`community_id = ${communityId} and visible and id > ${after?.id ?? 0}`
  const matchesFilters = filterConditions(sql, filters)
  const window = (rows: number) => sql`
    (select id, type, category, member_id, search from listings
    where community_id = ${communityId} and visible and id > ${after?.id ?? 0} order by id limit ${rows}) w`
  // `offset 0` keeps the planner from using the index of the whole community instead. The full-text index may return
  // false positives (migration 0011), so the outer query checks the filters again. The search words are a subquery so
  // that one plan fits all of them: planning for each word took longer than the search.
  const matching = sql`
    (select community_id, id, visible, type, category, member_id, search from listings
    where listing_words(community_id, search)
      @@ (select listing_query(${communityId}, websearch_to_tsquery('simple', ${filters.q}))) offset 0) m`
  return sql<ListingRow[]>`
    with near as materialized (
      select id from ${window(NEAR_ROWS)} where true ${matchesFilters} order by id limit ${wanted}
    ), few as materialized (
      select id from ${matching} where ${afterCursor} ${matchesFilters} and (select count(*) from near) < ${wanted}
      limit ${FEW_MAX + 1}
    ), far as materialized (
      select id from ${window(FAR_ROWS)} where (select count(*) from few) > ${FEW_MAX} ${matchesFilters}
      order by id limit ${wanted}
    ), every as materialized (
      select id from ${matching} where ${afterCursor} ${matchesFilters}
        and (select count(*) from few) > ${FEW_MAX} and (select count(*) from far) < ${wanted}
      order by id limit ${wanted}
    ), found as (
      select id from near where (select count(*) from near) = ${wanted}
      union all select id from few where (select count(*) from few) <= ${FEW_MAX}
      union all select id from far where (select count(*) from far) = ${wanted}
      union all select id from every
    )
    select l.* from (select id as found_id from found order by id limit ${wanted}) f, lateral (
      select ${partnerColumns(sql)} from listings where community_id = ${communityId} and id = f.found_id limit 1
    ) l
    order by l.id`
}
