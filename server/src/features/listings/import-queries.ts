import type { Transaction } from '../../postgres/connect.ts'
import { detectChanges, isOtherTime, reasonFound, spacedIds, type Lines } from '../spreadsheets/queries.ts'
import { lockCategoriesOf, type ListingRecord } from './queries.ts'

export async function matchMembers(tx: Transaction, communityId: number): Promise<void> {
  await tx`
    update import_rows r set parent_id = m.id from members m
    where r.outcome is null and m.community_id = ${communityId} and m.external_id = r.input ->> 'member_external_id'
      and r.input ->> 'member_stand_in_for' is null`
  await tx`
    update import_rows r set parent_id = m.id from (${spacedIds(tx, communityId, 'members')}) m
    where r.outcome is null and r.parent_id is null and m.external_id = r.input ->> 'member_external_id'
      and r.input ->> 'member_stand_in_for' is null`
  await tx`
    update import_rows r set parent_id = m.id from members m
    where r.outcome is null and m.community_id = ${communityId} and m.erased_at is null
      and m.id = (r.input ->> 'member_stand_in_for')::int8`
}

export async function rejectWrongMembers(tx: Transaction, communityId: number): Promise<void> {
  await tx`
    update import_rows set outcome = 'refused',
      reasons = ${reasonFound(tx, 'no_member_external_id', tx`'external_id', input ->> 'member_external_id'`)}
    where outcome is null and parent_id is null`
  await tx`
    update import_rows r set outcome = 'refused', reasons = ${reasonFound(tx, 'listing_of_other')}
    from listings l
    where r.outcome is null and l.community_id = ${communityId} and l.id = r.id and l.member_id <> r.parent_id`
  await tx`
    update import_rows r set outcome = 'refused', reasons = ${reasonFound(tx, 'closed_without_leaving')}
    from members m
    where r.outcome is null and m.community_id = ${communityId} and m.id = r.parent_id and m.status = 'active'
      and r.input ->> 'status' = 'closed_with_member'`
  await tx`
    update import_rows r set outcome = 'refused', reasons = ${reasonFound(tx, 'listing_of_left')}
    from members m
    where r.outcome is null and m.community_id = ${communityId} and m.id = r.parent_id and m.status <> 'active'
      and (r.input ->> 'status' = 'active' or (r.id is null and not r.input ? 'status'))`
}

export async function detectListingChanges(tx: Transaction, communityId: number): Promise<void> {
  const fields = tx`
    case when i.input ->> 'type' <> t.type then 'type' end,
    case when i.input ->> 'title' <> t.title then 'title' end,
    case when i.input ->> 'description' <> t.description then 'description' end,
    case when i.input ->> 'category' <> t.category then 'category' end,
    case when i.input ? 'centihours' and (i.input ->> 'centihours')::int8 is distinct from t.centihours then 'hours' end,
    case when ${isOtherTime(tx, communityId, 'created_at')} then 'created_at' end,
    case when i.input ->> 'status' <> case when t.closed_by_leaving then 'closed_with_member' else t.status end
      then 'status' end`
  await detectChanges(tx, communityId, 'listings', fields)
}

/**
 * Keeps members from leaving or hiding while their listings are written. Wallets are locked only for status changes, so
 * that importing listings does not block credits. Reopening a listing needs the same lock of its member; upgrading a
 * shared one would be a deadlock of two imports.
 */
export async function lockMembers(tx: Transaction, communityId: number): Promise<void> {
  await tx`
    select 1 from accounts
    where community_id = ${communityId} and member_id in (
      select parent_id from import_rows where outcome = 'changed' and 'status' = any (changes))
    order by id for no key update`
  await tx`
    select 1 from members
    where community_id = ${communityId} and id in (select parent_id from import_rows where outcome in ('added', 'changed'))
    order by id for no key update`
}

/** Lists the categories that rows are put into; a row that keeps its category is not. */
export async function listNewCategories(tx: Transaction): Promise<string[]> {
  const rows = await tx<{ name: string }[]>`
    select distinct input ->> 'category' as name from import_rows
    where outcome = 'added' or outcome = 'changed' and 'category' = any (changes)`
  return rows.map(({ name }) => name)
}

/**
 * Locks the categories in which the changed listings are now. Call it before new ones are created: a rename waits for a
 * name that is being created, and has locked its category by then.
 */
export async function lockChangedCategories(tx: Transaction, communityId: number): Promise<void> {
  await lockCategoriesOf(tx, communityId, tx`l.id in (select id from import_rows where outcome = 'changed')`)
}

export async function lockChangedListings(tx: Transaction, communityId: number): Promise<void> {
  await tx`
    select 1 from listings
    where community_id = ${communityId} and id in (select id from import_rows where outcome = 'changed')
    order by id for no key update`
}

/** If the member left after validation, the listing is closed with them. Skips members who were erased in the meantime. */
export async function insertListings(
  tx: Transaction,
  communityId: number,
  { from, to }: Lines,
): Promise<ListingRecord[]> {
  return tx<ListingRecord[]>`
    with new_rows as materialized (
      select r.*, coalesce(r.input ->> 'status', 'active') as requested_status, m.status as member_status,
        m.visible as member_visible
      from import_rows r join members m on m.community_id = ${communityId} and m.id = r.parent_id and m.erased_at is null
      where r.outcome = 'added' and r.line between ${from} and ${to}
        -- Redundant, but makes the planner look up these members by index instead of scanning all of them.
        and m.id = any (array(select parent_id from import_rows where line between ${from} and ${to}))
    ), ids as materialized (
      select take_ids(${communityId}, 'listings', 0, (select count(*) from new_rows)) as first,
        stamp_change(${communityId}) as stamped_at
    ), made as (
      insert into listings (community_id, id, external_id, member_id, type, title, description, category, centihours, status,
        closed_by_leaving, visible, created_at, updated_at)
      select ${communityId}, ids.first + row_number() over (order by line) - 1, external_id, parent_id, input ->> 'type', input ->> 'title',
        coalesce(input ->> 'description', ''), input ->> 'category', (input ->> 'centihours')::int8,
        case when requested_status = 'active' and member_status = 'active' then 'active' else 'closed' end,
        requested_status <> 'closed' and member_status <> 'active', requested_status = 'active' and member_visible,
        coalesce((input ->> 'created_at')::timestamptz, clock_timestamp()),
        ids.stamped_at
      from new_rows, ids order by line
      returning *
    )
    select * from made order by id`
}

/** Writes only the fields that are changed, because the others may have got another value since they were compared. */
export async function updateListings(
  tx: Transaction,
  communityId: number,
  { from, to }: Lines,
): Promise<ListingRecord[]> {
  return tx<ListingRecord[]>`
    with r as materialized (
      -- The time is read here, because Citus reads none in a CASE.
      select *, (input ->> 'created_at')::timestamptz as created_at from import_rows
      where outcome = 'changed' and line between ${from} and ${to}
        and changes && '{type,title,description,category,hours,created_at}'
    )
    update listings l set
      type = case when 'type' = any (r.changes) then r.input ->> 'type' else l.type end,
      title = case when 'title' = any (r.changes) then r.input ->> 'title' else l.title end,
      category = case when 'category' = any (r.changes) then r.input ->> 'category' else l.category end,
      description = case when 'description' = any (r.changes) then r.input ->> 'description' else l.description end,
      centihours = case when 'hours' = any (r.changes) then (r.input ->> 'centihours')::int8 else l.centihours end,
      created_at = case when 'created_at' = any (r.changes) then r.created_at else l.created_at end,
      version = l.version + 1, updated_at = (select stamp_change(${communityId}))
    from r, members m
    where l.community_id = ${communityId} and l.id = r.id
      and m.community_id = ${communityId} and m.id = l.member_id and m.erased_at is null
      and l.id = any (array(select id from import_rows where outcome = 'changed' and line between ${from} and ${to}))
    returning l.*`
}

interface StatusChange {
  id: number
  status: string
  member_left: boolean
}

/** Skips members who were erased in the meantime. */
export async function listStatusChanges(
  tx: Transaction,
  communityId: number,
  { from, to }: Lines,
): Promise<StatusChange[]> {
  return tx<StatusChange[]>`
    select r.id, r.input ->> 'status' as status, m.status <> 'active' as member_left
    from import_rows r join members m on m.community_id = ${communityId} and m.id = r.parent_id
    where r.outcome = 'changed' and r.line between ${from} and ${to} and 'status' = any (r.changes) and m.erased_at is null
      and m.id = any (array(select parent_id from import_rows where outcome = 'changed' and line between ${from} and ${to}))
    order by r.line`
}

/** Sets whether a closed listing reopens when its member returns. */
export async function setClosedByLeaving(
  tx: Transaction,
  communityId: number,
  id: number,
  reopensOnReturn: boolean,
): Promise<void> {
  await tx`
    update listings set closed_by_leaving = ${reopensOnReturn}
    where community_id = ${communityId} and id = ${id} and status = 'closed'`
}
