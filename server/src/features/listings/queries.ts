import { assignments, columnsAndValues, type Fragment, type Queries } from '../../postgres/connect.ts'
import { afterId, changedSince, limitRows } from '../../http/shared/page-queries.ts'
import type { ListRequest } from '../../http/shared/paging.ts'

/** A listing as stored. */
export interface ListingRecord {
  id: number
  member_id: number
  type: 'service' | 'request'
  title: string
  description: string
  category: string
  centihours: number | null
  status: 'active' | 'closed'
  visible: boolean
  external_id: string | null
  created_at: string
  updated_at: string
  version: number
}

export const recordColumns = (sql: Queries, prefix = sql``) => sql`
  ${prefix}id, ${prefix}member_id, ${prefix}type, ${prefix}title, ${prefix}description, ${prefix}category,
  ${prefix}centihours, ${prefix}status, ${prefix}visible, ${prefix}external_id, ${prefix}created_at,
  ${prefix}updated_at, ${prefix}version`

export type NewListing = Pick<
  ListingRecord,
  'member_id' | 'type' | 'title' | 'description' | 'category' | 'centihours' | 'external_id'
>

/** A listing as partners see it. */
export interface ListingRow extends Omit<ListingRecord, 'visible' | 'external_id' | 'version'> {
  status: 'active'
}

export interface ListingFilters {
  type?: string
  category?: string
  user_id?: number
  q?: string
}

export const partnerColumns = (sql: Queries) =>
  sql`id, type, title, description, category, centihours, member_id, status, created_at, updated_at`

export function filterConditions(sql: Queries, { type, category, user_id, q }: ListingFilters) {
  return sql`
    ${type === undefined ? sql`` : sql`and type = ${type}`}
    ${category === undefined ? sql`` : sql`and category = ${category}`}
    ${user_id === undefined ? sql`` : sql`and member_id = ${user_id}`}
    ${q === undefined ? sql`` : sql`and search @@ websearch_to_tsquery('simple', ${q})`}`
}

/** Lists visible listings by id, or by time of change. */
export async function listListings(
  sql: Queries,
  communityId: number,
  list: ListRequest,
  filters: ListingFilters,
): Promise<ListingRow[]> {
  const { q } = filters
  const { limit, after, since } = list
  // The full-text index is keyed by community and may return false positives (migration 0011), so both are needed.
  const indexed =
    q === undefined
      ? sql``
      : sql`and listing_words(community_id, search) @@ listing_query(${communityId}, websearch_to_tsquery('simple', ${q}))`
  const filter = sql`${filterConditions(sql, filters)} ${indexed}`
  if (since === undefined) {
    return sql<ListingRow[]>`
      select ${partnerColumns(sql)} from listings
      where community_id = ${communityId} and visible and ${afterId(sql, after)} ${filter}
      order by id ${limitRows(sql, limit)}`
  }
  return sql<ListingRow[]>`
    select ${partnerColumns(sql)} from listings
    where community_id = ${communityId} and visible and ${changedSince(sql, 'updated_at', list)} ${filter}
    order by updated_at, id ${limitRows(sql, limit)}`
}

export async function findListing(sql: Queries, communityId: number, id: number): Promise<ListingRow | undefined> {
  const [row] = await sql<ListingRow[]>`
    select ${partnerColumns(sql)} from listings where community_id = ${communityId} and visible and id = ${id}`
  return row
}

export interface ChangedListing extends ListingRecord {
  was_visible: boolean
}

export async function closeWithMember(sql: Queries, communityId: number, memberId: number): Promise<ChangedListing[]> {
  return sql<ChangedListing[]>`
    update listings l set status = 'closed', closed_by_leaving = true, visible = false, version = l.version + 1,
      updated_at = (select stamp_change(${communityId}))
    from listings before
    where l.community_id = ${communityId} and l.member_id = ${memberId} and l.status = 'active'
      and before.community_id = ${communityId} and before.id = l.id
    returning ${recordColumns(sql, sql`l.`)}, before.visible as was_visible`
}

export async function reopenWithMember(
  sql: Queries,
  communityId: number,
  memberId: number,
  visible: boolean,
): Promise<ChangedListing[]> {
  return sql<ChangedListing[]>`
    update listings set status = 'active', closed_by_leaving = false, visible = ${visible}, version = version + 1,
      updated_at = (select stamp_change(${communityId}))
    where community_id = ${communityId} and member_id = ${memberId} and closed_by_leaving
    returning ${recordColumns(sql)}, false as was_visible`
}

export async function setListingsVisible(
  sql: Queries,
  communityId: number,
  memberId: number,
  visible: boolean,
): Promise<ChangedListing[]> {
  return sql<ChangedListing[]>`
    update listings set visible = ${visible}, version = version + 1, updated_at = (select stamp_change(${communityId}))
    where community_id = ${communityId} and member_id = ${memberId} and status = 'active' and visible <> ${visible}
    returning ${recordColumns(sql)}, not visible as was_visible`
}

export async function insertListing(
  sql: Queries,
  communityId: number,
  listing: NewListing & { visible: boolean },
): Promise<ListingRecord> {
  const id = sql`take_ids(${communityId}, 'listings', 0, 1)`
  const updated_at = sql`stamp_change(${communityId})`
  const [row] = await sql<[ListingRecord]>`
    insert into listings ${columnsAndValues({ community_id: communityId, id, ...listing, updated_at })} returning ${recordColumns(sql)}`
  return row
}

export async function findListingRecord(
  sql: Queries,
  communityId: number,
  id: number,
): Promise<ListingRecord | undefined> {
  const [row] = await sql<ListingRecord[]>`
    select ${recordColumns(sql)} from listings where community_id = ${communityId} and id = ${id}`
  return row
}

export async function lockListing(sql: Queries, communityId: number, id: number): Promise<ListingRecord | undefined> {
  const [row] = await sql<ListingRecord[]>`
    select ${recordColumns(sql)} from listings where community_id = ${communityId} and id = ${id} for no key update`
  return row
}

export async function updateListing(
  sql: Queries,
  communityId: number,
  id: number,
  change: Partial<Omit<ListingRecord, 'id' | 'created_at' | 'updated_at' | 'version'>>,
): Promise<ListingRecord> {
  const [row] = await sql<[ListingRecord]>`
    update listings set ${assignments({ ...change })}, version = version + 1, updated_at = (select stamp_change(${communityId}))
    where community_id = ${communityId} and id = ${id} returning ${recordColumns(sql)}`
  return row
}

/** Gives a batch of a renamed category's listings the new name, by id, whether or not the foreign key has done so. */
export async function touchListings(
  sql: Queries,
  communityId: number,
  { from, to, after, limit }: { from: string; to: string; after: number; limit: number },
): Promise<ListingRecord[]> {
  return sql<ListingRecord[]>`
    with changed as (
      update listings set category = ${to}, version = version + 1, updated_at = (select stamp_change(${communityId}))
      where community_id = ${communityId} and id = any (array(
        select id from listings where community_id = ${communityId} and category in (${from}, ${to}) and id > ${after}
        order by id limit ${limit} for no key update))
      returning ${recordColumns(sql)}
    )
    select * from changed order by id`
}

/** Locks in id order. Whoever changes several listings does so first, because an update finds them in any order. */
export async function lockListings(
  sql: Queries,
  communityId: number,
  filters: Pick<ListingFilters, 'category' | 'user_id'>,
): Promise<void> {
  await sql`
    select count(*) from (
      select 1 from listings where community_id = ${communityId} ${filterConditions(sql, filters)}
      order by id for no key update) l`
}

/**
 * Keeps the categories of these listings (`l`) from being renamed or retired. A transaction that changes a listing more
 * than once calls this before it locks the listing: from the second change on, PostgreSQL checks the foreign key again,
 * which needs this lock, and renaming locks the category before its listings.
 */
export async function lockCategoriesOf(sql: Queries, communityId: number, listings: Fragment): Promise<void> {
  const rows = await sql<{ id: number }[]>`
    select distinct c.id from listings l join categories c on c.community_id = ${communityId} and c.name = l.category
    where l.community_id = ${communityId} and ${listings}`
  // By id: a name may be another's by the time that the lock is granted.
  await sql`
    select 1 from categories where community_id = ${communityId} and id = any (${rows.map(({ id }) => id)}::int8[])
    order by name for key share`
}

export async function lockCategoriesOfMember(sql: Queries, communityId: number, memberId: number): Promise<void> {
  await lockCategoriesOf(sql, communityId, sql`l.member_id = ${memberId}`)
}

export interface LockedCategory {
  name: string
  is_retired: boolean
}

/** Returns those that exist. They can be used by several at once, but not be renamed or retired. */
export async function lockCategories(sql: Queries, communityId: number, names: string[]): Promise<LockedCategory[]> {
  return sql<LockedCategory[]>`
    select name, retired_at is not null as is_retired from categories
    where community_id = ${communityId} and name = any (${names}::text[])
    order by name for key share`
}

/** In one order, because each waits for whoever is creating the same category. */
export async function insertCategories(sql: Queries, communityId: number, names: string[]): Promise<void> {
  await sql`
    insert into categories (community_id, name)
    select ${communityId}::int8, i.name from unnest(${names}::text[]) as i(name) order by i.name
    on conflict (community_id, name) do nothing`
}
