import { recordAudit, type Actor } from '../audit/record.ts'
import { recordAudits } from '../audit/record-many.ts'
import { readCentihours } from '../../core/hours.ts'
import type { Transaction } from '../../postgres/connect.ts'
import type { EventType } from '../events/event-types.ts'
import { memberProblems } from '../members/check-member.ts'
import { readWord } from '../spreadsheets/cell-words.ts'
import { createImport, type ImportKind, type RowContext } from '../spreadsheets/import-rows.ts'
import type { Lines, RowInput } from '../spreadsheets/queries.ts'
import { readPastTime } from '../spreadsheets/read-past-time.ts'
import { shortenCell } from '../spreadsheets/shorten-cell.ts'
import { closeListing, listingProblems, reopenListing } from './change-listing.ts'
import { ensureCategories } from './ensure-categories.ts'
import {
  detectListingChanges,
  insertListings,
  listNewCategories,
  listStatusChanges,
  lockChangedCategories,
  lockChangedListings,
  lockMembers,
  matchMembers,
  rejectWrongMembers,
  setClosedByLeaving,
  updateListings,
} from './import-queries.ts'
import type { ListingRecord } from './queries.ts'
import { recordListingEvents } from './record-listing-events.ts'
import { because, type Reason } from '../../core/reasons.ts'

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

const LISTING_ALIASES = {
  external_id: [['nummer'], ['nr'], ['number'], ['no']],
  member_external_id: [['mitgliedsnummer'], ['mitglied'], ['mitglied nr'], ['member number'], ['member']],
  type: [['art'], ['typ'], ['kind']],
  title: [['titel'], ['titre'], ['titolo']],
  category: [['kategorie'], ['rubrik'], ['catégorie'], ['categoria']],
  description: [['beschreibung'], ['text'], ['descrizione']],
  hours: [['stunden'], ['dauer'], ['heures'], ['ore']],
  created_at: [['datum'], ['erstellt'], ['date']],
}

const STATUSES = 'active, closed, closed_with_member'

/** Listings and their members are matched by external id. A missing field leaves the value unchanged. */
export const LISTINGS: ImportKind = {
  noun: 'listing',
  table: 'listings',
  grownTables: ['listings'],
  columns: LISTING_COLUMNS,
  requiredColumns: ['external_id', 'member_external_id', 'type', 'title', 'category'],
  verbatimColumns: ['description'],
  aliases: LISTING_ALIASES,
  read: readListing,
  async validate(tx, communityId) {
    await matchMembers(tx, communityId)
    await rejectWrongMembers(tx, communityId)
    await detectListingChanges(tx, communityId)
  },
  async lock(tx, communityId) {
    await lockMembers(tx, communityId)
    await lockChangedCategories(tx, communityId)
    await ensureCategories(tx, communityId, await listNewCategories(tx))
    await lockChangedListings(tx, communityId)
  },
  add: addListings,
  async change(tx, actor, communityId, lines) {
    await changeFields(tx, actor, communityId, lines)
    await changeStatuses(tx, actor, communityId, lines)
  },
}

export const importListings = createImport(LISTINGS)

function readListing(fields: Record<string, string>, context: RowContext): { input: RowInput; problems: Reason[] } {
  const { external_id, member_external_id, type, title, description, category, hours, status, created_at } = fields
  const { ids, decimal } = context
  // Members and listings share the rules for external ids.
  const problems = memberProblems({ external_id: external_id || null }).map(({ reason }) => reason)
  const input: RowInput = {
    member_external_id: member_external_id!,
    member_stand_in_for: ids.idOf(member_external_id!),
    type: readWord('listingType', type!) ?? null,
    title: title!,
    category: category!,
  }
  if (!member_external_id) problems.push(because('member_external_id_missing'))
  else if (memberProblems({ external_id: member_external_id }).length > 0) {
    problems.push(because('no_member_external_id', { external_id: shortenCell(member_external_id) }))
  }
  if (input.type === null) problems.push(because('type_service_request'))
  if (description !== undefined) input.description = description
  if (hours !== undefined) {
    const centihours = hours === '' ? null : readCentihours(hours, decimal)
    if (centihours === undefined) problems.push(because('hours_number'))
    else input.centihours = centihours
  }
  if (status) {
    const word = readWord('listingStatus', status)
    if (word) input.status = word
    else problems.push(because('status_one_of', { choices: STATUSES }))
  }
  if (created_at) {
    const { time, day } = readPastTime(created_at, 'created_at', context, problems)
    Object.assign(input, { created_at: time, created_at_day: day })
  }
  const { centihours } = input as { centihours?: number | null }
  problems.push(
    ...listingProblems({
      title: title!,
      category: category!,
      ...(description !== undefined && { description }),
      ...(centihours !== undefined && { centihours }),
    }).map(({ reason }) => reason),
  )
  return { input, problems }
}

/** The bulk version of publishListing. */
async function addListings(tx: Transaction, actor: Actor, communityId: number, lines: Lines): Promise<void> {
  const added = await insertListings(tx, communityId, lines)
  const active = added.filter(({ status }) => status === 'active')
  const closed = added.filter(({ status }) => status === 'closed')
  await recordChanges(tx, actor, communityId, active, 'listing.published')
  await recordChanges(tx, actor, communityId, closed, 'listing.published', 'listing.added')
}

/** The bulk version of changeListing. */
async function changeFields(tx: Transaction, actor: Actor, communityId: number, lines: Lines): Promise<void> {
  const changed = await updateListings(tx, communityId, lines)
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
  await recordListingEvents(tx, communityId, type, visible)
}

/** Changes statuses one listing at a time, because removals change with them. */
async function changeStatuses(tx: Transaction, actor: Actor, communityId: number, lines: Lines): Promise<void> {
  for (const { id, status, member_left } of await listStatusChanges(tx, communityId, lines)) {
    if (!member_left) await (status === 'active' ? reopenListing : closeListing)(tx, actor, communityId, id)
    else {
      const reopensOnReturn = status === 'closed_with_member'
      await setClosedByLeaving(tx, communityId, id, reopensOnReturn)
      const detail = { closed_by_leaving: reopensOnReturn }
      await recordAudit(tx, communityId, actor, { action: 'listing.updated', subject: { kind: 'listing', id }, detail })
    }
  }
}
