import type { Actor } from '../audit/record.ts'
import { recordAudits } from '../audit/record-many.ts'
import type { CommunityRow } from '../communities/queries.ts'
import {
  importRows,
  type ImportKind,
  type ImportOptions,
  type ImportSummary,
  type Lines,
  type Wish,
} from '../spreadsheets/import-rows.ts'
import type { StandInIds } from '../../csv/stand-in-ids.ts'
import type { Sql, Transaction } from '../../postgres/connect.ts'
import type { EventType } from '../events/event-types.ts'
import { recordEvents } from '../events/record.ts'
import { memberProblems } from '../members/check-member.ts'
import { timeOf } from '../members/import-members.ts'
import { closeListing, listingProblems, reopenListing } from './change-listing.ts'
import { listingSnapshot } from './present-listing.ts'
import type { ListingRecord } from './queries.ts'

/** What an export writes is what an import reads. */
export const LISTING_COLUMNS = [
  'external_id',
  'member_external_id',
  'type',
  'title',
  'description',
  'category',
  'hours',
  'status',
  'created_at',
] as const

/** `closed_with_member`: closed because the member left, and open again when they return. */
const STATUSES = ['active', 'closed', 'closed_with_member']
const HOURS = /^\d{1,9}(\.\d{1,2})?$/

/** A listing is found again by its external id, its member by theirs. Fields left out stay as they are. */
export async function importListings(
  sql: Sql,
  actor: Actor,
  community: CommunityRow,
  file: AsyncIterable<Uint8Array>,
  options?: ImportOptions,
): Promise<ImportSummary> {
  return importRows(sql, actor, community, LISTINGS, file, options)
}

const LISTINGS: ImportKind = {
  noun: 'listing',
  table: 'listings',
  tables: ['listings'],
  columns: LISTING_COLUMNS,
  requiredColumns: ['external_id', 'member_external_id', 'type', 'title', 'category'],
  read: readListing,
  async judge(tx, communityId) {
    await findMembers(tx, communityId)
    await refuseWrongMembers(tx, communityId)
    await compare(tx, communityId)
  },
  lock: lockMembers,
  async add(tx, actor, communityId, lines) {
    await ensureCategories(tx, communityId, lines)
    await addListings(tx, actor, communityId, lines)
  },
  async change(tx, actor, communityId, lines) {
    await ensureCategories(tx, communityId, lines)
    await changeFields(tx, actor, communityId, lines)
    await changeStatuses(tx, actor, communityId, lines)
  },
}

function readListing(fields: Record<string, string>, ids: StandInIds): { wish: Wish; problems: string[] } {
  const { external_id, member_external_id, type, title, description, category, hours, status, created_at } = fields
  // One rule for all external ids.
  const problems = memberProblems({ external_id: external_id || null }).map(({ message }) => message)
  const wish: Wish = {
    member_external_id: member_external_id!,
    member_stand_in_for: ids.idOf(member_external_id!),
    type: type!,
    title: title!,
    category: category!,
  }
  if (!member_external_id) problems.push("The member's external id is missing.")
  if (type !== 'service' && type !== 'request') problems.push('The type must be service or request.')
  if (description !== undefined) wish.description = description
  if (hours !== undefined) {
    if (hours !== '' && !HOURS.test(hours)) problems.push('The hours must be a number with at most two decimals.')
    else wish.centihours = hours === '' ? null : Math.round(Number(hours) * 100)
  }
  if (status) {
    if (!STATUSES.includes(status)) problems.push(`The status must be one of ${STATUSES.join(', ')}.`)
    wish.status = status
  }
  if (created_at) {
    const time = timeOf(created_at)
    if (time === undefined) problems.push('The time of creation must be like 2024-05-31 or 2024-05-31T12:00:00Z.')
    else if (Date.parse(time) > Date.now()) problems.push('The time of creation lies in the future.')
    else wish.created_at = time
  }
  const { centihours } = wish as { centihours?: number | null }
  problems.push(
    ...listingProblems({
      title: title!,
      category: category!,
      ...(description !== undefined && { description }),
      ...(centihours !== undefined && { centihours }),
    }).map(({ message }) => message),
  )
  return { wish, problems }
}

async function findMembers(tx: Transaction, communityId: number): Promise<void> {
  await tx`
    update import_rows r set parent_id = m.id from members m
    where r.outcome is null and m.community_id = ${communityId} and m.external_id = r.wish ->> 'member_external_id'
      and r.wish ->> 'member_stand_in_for' is null`
  await tx`
    update import_rows r set parent_id = m.id from members m
    where r.outcome is null and m.community_id = ${communityId} and m.erased_at is null
      and m.id = (r.wish ->> 'member_stand_in_for')::int8`
}

async function refuseWrongMembers(tx: Transaction, communityId: number): Promise<void> {
  await tx`
    update import_rows set outcome = 'refused',
      reason = format('There is no member with the external id %s.', wish ->> 'member_external_id')
    where outcome is null and parent_id is null`
  await tx`
    update import_rows r set outcome = 'refused', reason = 'The listing belongs to another member.'
    from listings l
    where r.outcome is null and l.community_id = ${communityId} and l.id = r.id and l.member_id <> r.parent_id`
  await tx`
    update import_rows r set outcome = 'refused', reason = case m.status
      when 'active' then 'The member has not left, so nothing was closed with them.'
      else 'The member has left and cannot publish listings.' end
    from members m
    where r.outcome is null and m.community_id = ${communityId} and m.id = r.parent_id
      and case m.status when 'active' then r.wish ->> 'status' = 'closed_with_member'
        else r.wish ->> 'status' = 'active' or (r.id is null and not r.wish ? 'status') end`
}

async function compare(tx: Transaction, communityId: number): Promise<void> {
  await tx`
    update import_rows r set changes = j.changes,
      outcome = case when j.changes = '{}' then 'unchanged' else 'changed' end
    from (
      select w.line, array_remove(array[
        case when w.wish ->> 'type' <> l.type then 'type' end,
        case when w.wish ->> 'title' <> l.title then 'title' end,
        case when w.wish ->> 'description' <> l.description then 'description' end,
        case when w.wish ->> 'category' <> l.category then 'category' end,
        case when w.wish ? 'centihours' and (w.wish ->> 'centihours')::int8 is distinct from l.centihours then 'hours' end,
        case when (w.wish ->> 'created_at')::timestamptz <> l.created_at then 'created_at' end,
        case when w.wish ->> 'status' <> case when l.closed_by_leaving then 'closed_with_member' else l.status end
          then 'status' end], null) as changes
      from import_rows w join listings l on l.community_id = ${communityId} and l.id = w.id
      where w.outcome is null
    ) j
    where j.line = r.line`
}

/**
 * Nobody leaves or hides while their listings are written. Only who reopens a listing has their wallet locked, so that
 * an import of listings holds up no credits.
 */
async function lockMembers(tx: Transaction, communityId: number): Promise<void> {
  await tx`
    select from accounts
    where community_id = ${communityId} and member_id in (
      select parent_id from import_rows where outcome = 'changed' and 'status' = any (changes))
    order by id for no key update`
  await tx`
    select from members
    where community_id = ${communityId} and id in (select parent_id from import_rows where outcome in ('added', 'changed'))
    order by id for share`
}

/** A category is made by the first listing that names it. */
async function ensureCategories(tx: Transaction, communityId: number, { from, to }: Lines): Promise<void> {
  await tx`
    insert into categories (community_id, name)
    select ${communityId}, wish ->> 'category' from import_rows
    where outcome in ('added', 'changed') and line between ${from} and ${to}
    group by wish ->> 'category' order by min(line)
    on conflict (community_id, name) do nothing`
}

/** As publishListing does it. Who left since the file was judged has their listings closed with them. */
async function addListings(tx: Transaction, actor: Actor, communityId: number, { from, to }: Lines): Promise<void> {
  const added = await tx<ListingRecord[]>`
    with wishes as (
      select r.*, coalesce(r.wish ->> 'status', 'active') as wished, m.status as member_status, m.visible as member_visible
      from import_rows r join members m on m.community_id = ${communityId} and m.id = r.parent_id
      where r.outcome = 'added' and r.line between ${from} and ${to}
        -- The same again, so that these members are looked up and not all are read.
        and m.id = any (array(select parent_id from import_rows where line between ${from} and ${to}))
    ), made as (
      insert into listings (community_id, external_id, member_id, type, title, description, category, centihours, status,
        closed_by_leaving, visible, created_at)
      select ${communityId}, external_id, parent_id, wish ->> 'type', wish ->> 'title',
        coalesce(wish ->> 'description', ''), wish ->> 'category', (wish ->> 'centihours')::int8,
        case when wished = 'active' and member_status = 'active' then 'active' else 'closed' end,
        wished <> 'closed' and member_status <> 'active', wished = 'active' and member_visible,
        coalesce((wish ->> 'created_at')::timestamptz, clock_timestamp())
      from wishes order by line
      returning *
    )
    select * from made order by id`
  for (const status of ['active', 'closed']) {
    const some = added.filter((listing) => listing.status === status)
    await tell(tx, actor, communityId, some, 'listing.published', status === 'active' ? undefined : 'listing.added')
  }
}

/** As changeListing does it. */
async function changeFields(tx: Transaction, actor: Actor, communityId: number, { from, to }: Lines): Promise<void> {
  const changed = await tx<ListingRecord[]>`
    update listings l set type = r.wish ->> 'type', title = r.wish ->> 'title', category = r.wish ->> 'category',
      description = coalesce(r.wish ->> 'description', l.description),
      centihours = case when r.wish ? 'centihours' then (r.wish ->> 'centihours')::int8 else l.centihours end,
      created_at = coalesce((r.wish ->> 'created_at')::timestamptz, l.created_at),
      version = l.version + 1, updated_at = clock_timestamp()
    from import_rows r, members m
    where l.community_id = ${communityId} and l.id = r.id and r.outcome = 'changed' and r.line between ${from} and ${to}
      and m.community_id = ${communityId} and m.id = l.member_id and m.erased_at is null
      and r.changes && '{type,title,description,category,hours,created_at}'
      and l.id = any (array(select id from import_rows where outcome = 'changed' and line between ${from} and ${to}))
    returning l.*`
  await tell(tx, actor, communityId, changed, 'listing.updated')
}

/** The audit log always, partners only what they can see. */
async function tell(
  tx: Transaction,
  actor: Actor,
  communityId: number,
  listings: ListingRecord[],
  type: EventType,
  action: string = type,
): Promise<void> {
  const entries = listings.map(({ id }) => ({ action, subject: { kind: 'listing', id } }))
  await recordAudits(tx, communityId, actor, entries)
  const seen = listings.filter(({ visible }) => visible)
  const events = seen.map((listing) => ({
    type,
    memberId: listing.member_id,
    listingId: listing.id,
    data: listingSnapshot(listing),
  }))
  await recordEvents(tx, communityId, events)
}

/** One by one, because removals follow. */
async function changeStatuses(tx: Transaction, actor: Actor, communityId: number, { from, to }: Lines): Promise<void> {
  const rows = await tx<{ id: number; status: string; member_left: boolean }[]>`
    select r.id, r.wish ->> 'status' as status, m.status <> 'active' as member_left
    from import_rows r join members m on m.community_id = ${communityId} and m.id = r.parent_id
    where r.outcome = 'changed' and r.line between ${from} and ${to} and 'status' = any (r.changes)
      and m.id = any (array(select parent_id from import_rows where outcome = 'changed' and line between ${from} and ${to}))
    order by r.line`
  for (const { id, status, member_left } of rows) {
    if (member_left) await setClosedByLeaving(tx, actor, communityId, id, status === 'closed_with_member')
    else await (status === 'active' ? reopenListing : closeListing)(tx, actor, communityId, id)
  }
}

/** Whether a listing of someone who left opens again with their return. */
async function setClosedByLeaving(
  tx: Transaction,
  actor: Actor,
  communityId: number,
  id: number,
  isSo: boolean,
): Promise<void> {
  await tx`
    update listings set closed_by_leaving = ${isSo}
    where community_id = ${communityId} and id = ${id} and status = 'closed'`
  const subject = { kind: 'listing', id }
  await recordAudits(tx, communityId, actor, [
    { action: 'listing.updated', subject, detail: { closed_by_leaving: isSo } },
  ])
}
