import type { Actor } from '../audit/record.ts'
import { recordAudits } from '../audit/record-many.ts'
import type { CommunityRow } from '../communities/queries.ts'
import {
  importRows,
  type ImportKind,
  type ImportOptions,
  type ImportSummary,
  type Lines,
  type RowInput,
} from '../spreadsheets/import-rows.ts'
import type { StandInIds } from '../../csv/stand-in-ids.ts'
import type { Sql, Transaction } from '../../postgres/connect.ts'
import type { EventType } from '../events/event-types.ts'
import { recordEvents } from '../events/record.ts'
import { memberProblems } from '../members/check-member.ts'
import { parseTime } from '../members/import-members.ts'
import { closeListing, listingProblems, reopenListing } from './change-listing.ts'
import { listingSnapshot } from './present-listing.ts'
import type { ListingRecord } from './queries.ts'

/** The columns of both import and export. */
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

/** `closed_with_member` listings closed when the member left and reopen when they return. */
const STATUSES = ['active', 'closed', 'closed_with_member']
const HOURS = /^\d{1,9}(\.\d{1,2})?$/

/** Listings and their members are matched by external id. A missing field leaves the value unchanged. */
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
  grownTables: ['listings'],
  columns: LISTING_COLUMNS,
  requiredColumns: ['external_id', 'member_external_id', 'type', 'title', 'category'],
  read: readListing,
  async validate(tx, communityId) {
    await matchMembers(tx, communityId)
    await rejectWrongMembers(tx, communityId)
    await detectChanges(tx, communityId)
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

function readListing(fields: Record<string, string>, ids: StandInIds): { input: RowInput; problems: string[] } {
  const { external_id, member_external_id, type, title, description, category, hours, status, created_at } = fields
  // Members and listings share the rules for external ids.
  const problems = memberProblems({ external_id: external_id || null }).map(({ message }) => message)
  const input: RowInput = {
    member_external_id: member_external_id!,
    member_stand_in_for: ids.idOf(member_external_id!),
    type: type!,
    title: title!,
    category: category!,
  }
  if (!member_external_id) problems.push("The member's external id is missing.")
  if (type !== 'service' && type !== 'request') problems.push('The type must be service or request.')
  if (description !== undefined) input.description = description
  if (hours !== undefined) {
    if (hours !== '' && !HOURS.test(hours)) problems.push('The hours must be a number with at most two decimals.')
    else input.centihours = hours === '' ? null : Math.round(Number(hours) * 100)
  }
  if (status) {
    if (!STATUSES.includes(status)) problems.push(`The status must be one of ${STATUSES.join(', ')}.`)
    input.status = status
  }
  if (created_at) {
    const time = parseTime(created_at)
    if (time === undefined) problems.push('The time of creation must be like 2024-05-31 or 2024-05-31T12:00:00Z.')
    else if (Date.parse(time) > Date.now()) problems.push('The time of creation lies in the future.')
    else input.created_at = time
  }
  const { centihours } = input as { centihours?: number | null }
  problems.push(
    ...listingProblems({
      title: title!,
      category: category!,
      ...(description !== undefined && { description }),
      ...(centihours !== undefined && { centihours }),
    }).map(({ message }) => message),
  )
  return { input, problems }
}

async function matchMembers(tx: Transaction, communityId: number): Promise<void> {
  await tx`
    update import_rows r set parent_id = m.id from members m
    where r.outcome is null and m.community_id = ${communityId} and m.external_id = r.input ->> 'member_external_id'
      and r.input ->> 'member_stand_in_for' is null`
  await tx`
    update import_rows r set parent_id = m.id from members m
    where r.outcome is null and m.community_id = ${communityId} and m.erased_at is null
      and m.id = (r.input ->> 'member_stand_in_for')::int8`
}

async function rejectWrongMembers(tx: Transaction, communityId: number): Promise<void> {
  await tx`
    update import_rows set outcome = 'refused',
      reason = format('There is no member with the external id %s.', input ->> 'member_external_id')
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
      and case m.status when 'active' then r.input ->> 'status' = 'closed_with_member'
        else r.input ->> 'status' = 'active' or (r.id is null and not r.input ? 'status') end`
}

async function detectChanges(tx: Transaction, communityId: number): Promise<void> {
  await tx`
    update import_rows r set changes = j.changes,
      outcome = case when j.changes = '{}' then 'unchanged' else 'changed' end
    from (
      select i.line, array_remove(array[
        case when i.input ->> 'type' <> l.type then 'type' end,
        case when i.input ->> 'title' <> l.title then 'title' end,
        case when i.input ->> 'description' <> l.description then 'description' end,
        case when i.input ->> 'category' <> l.category then 'category' end,
        case when i.input ? 'centihours' and (i.input ->> 'centihours')::int8 is distinct from l.centihours then 'hours' end,
        case when (i.input ->> 'created_at')::timestamptz <> l.created_at then 'created_at' end,
        case when i.input ->> 'status' <> case when l.closed_by_leaving then 'closed_with_member' else l.status end
          then 'status' end], null) as changes
      from import_rows i join listings l on l.community_id = ${communityId} and l.id = i.id
      where i.outcome is null
    ) j
    where j.line = r.line`
}

/**
 * Keeps members from leaving or hiding while their listings are written. Wallets are locked only for status changes, so
 * that importing listings does not block credits.
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

/** Creates the categories that do not exist yet. */
async function ensureCategories(tx: Transaction, communityId: number, { from, to }: Lines): Promise<void> {
  await tx`
    insert into categories (community_id, name)
    select ${communityId}, input ->> 'category' from import_rows
    where outcome in ('added', 'changed') and line between ${from} and ${to}
    group by input ->> 'category' order by min(line)
    on conflict (community_id, name) do nothing`
}

/** The bulk version of publishListing. If the member left after validation, the listing is closed with them. */
async function addListings(tx: Transaction, actor: Actor, communityId: number, { from, to }: Lines): Promise<void> {
  const added = await tx<ListingRecord[]>`
    with new_rows as (
      select r.*, coalesce(r.input ->> 'status', 'active') as requested_status, m.status as member_status,
        m.visible as member_visible
      from import_rows r join members m on m.community_id = ${communityId} and m.id = r.parent_id
      where r.outcome = 'added' and r.line between ${from} and ${to}
        -- Redundant, but makes the planner look up these members by index instead of scanning all of them.
        and m.id = any (array(select parent_id from import_rows where line between ${from} and ${to}))
    ), made as (
      insert into listings (community_id, external_id, member_id, type, title, description, category, centihours, status,
        closed_by_leaving, visible, created_at)
      select ${communityId}, external_id, parent_id, input ->> 'type', input ->> 'title',
        coalesce(input ->> 'description', ''), input ->> 'category', (input ->> 'centihours')::int8,
        case when requested_status = 'active' and member_status = 'active' then 'active' else 'closed' end,
        requested_status <> 'closed' and member_status <> 'active', requested_status = 'active' and member_visible,
        coalesce((input ->> 'created_at')::timestamptz, clock_timestamp())
      from new_rows order by line
      returning *
    )
    select * from made order by id`
  for (const status of ['active', 'closed']) {
    const listings = added.filter((listing) => listing.status === status)
    await recordChanges(
      tx,
      actor,
      communityId,
      listings,
      'listing.published',
      status === 'active' ? undefined : 'listing.added',
    )
  }
}

/** The bulk version of changeListing. */
async function changeFields(tx: Transaction, actor: Actor, communityId: number, { from, to }: Lines): Promise<void> {
  const changed = await tx<ListingRecord[]>`
    update listings l set type = r.input ->> 'type', title = r.input ->> 'title', category = r.input ->> 'category',
      description = coalesce(r.input ->> 'description', l.description),
      centihours = case when r.input ? 'centihours' then (r.input ->> 'centihours')::int8 else l.centihours end,
      created_at = coalesce((r.input ->> 'created_at')::timestamptz, l.created_at),
      version = l.version + 1, updated_at = clock_timestamp()
    from import_rows r, members m
    where l.community_id = ${communityId} and l.id = r.id and r.outcome = 'changed' and r.line between ${from} and ${to}
      and m.community_id = ${communityId} and m.id = l.member_id and m.erased_at is null
      and r.changes && '{type,title,description,category,hours,created_at}'
      and l.id = any (array(select id from import_rows where outcome = 'changed' and line between ${from} and ${to}))
    returning l.*`
  await recordChanges(tx, actor, communityId, changed, 'listing.updated')
}

/** Every change is audited. Events are recorded only for listings that partners can see. */
async function recordChanges(
  tx: Transaction,
  actor: Actor,
  communityId: number,
  listings: ListingRecord[],
  type: EventType,
  action: string = type,
): Promise<void> {
  const entries = listings.map(({ id }) => ({ action, subject: { kind: 'listing', id } }))
  await recordAudits(tx, communityId, actor, entries)
  const visible = listings.filter((listing) => listing.visible)
  const events = visible.map((listing) => ({
    type,
    memberId: listing.member_id,
    listingId: listing.id,
    data: listingSnapshot(listing),
  }))
  await recordEvents(tx, communityId, events)
}

/** Changes statuses one listing at a time, because removals change with them. */
async function changeStatuses(tx: Transaction, actor: Actor, communityId: number, { from, to }: Lines): Promise<void> {
  const rows = await tx<{ id: number; status: string; member_left: boolean }[]>`
    select r.id, r.input ->> 'status' as status, m.status <> 'active' as member_left
    from import_rows r join members m on m.community_id = ${communityId} and m.id = r.parent_id
    where r.outcome = 'changed' and r.line between ${from} and ${to} and 'status' = any (r.changes)
      and m.id = any (array(select parent_id from import_rows where outcome = 'changed' and line between ${from} and ${to}))
    order by r.line`
  for (const { id, status, member_left } of rows) {
    if (member_left) await setClosedByLeaving(tx, actor, communityId, id, status === 'closed_with_member')
    else await (status === 'active' ? reopenListing : closeListing)(tx, actor, communityId, id)
  }
}

/** Sets whether a closed listing reopens when its member returns. */
async function setClosedByLeaving(
  tx: Transaction,
  actor: Actor,
  communityId: number,
  id: number,
  reopensOnReturn: boolean,
): Promise<void> {
  await tx`
    update listings set closed_by_leaving = ${reopensOnReturn}
    where community_id = ${communityId} and id = ${id} and status = 'closed'`
  const subject = { kind: 'listing', id }
  await recordAudits(tx, communityId, actor, [
    { action: 'listing.updated', subject, detail: { closed_by_leaving: reopensOnReturn } },
  ])
}
