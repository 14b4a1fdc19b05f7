import { recordAudit, type Actor } from '../audit/record.ts'
import { transaction, type Queries, type Transaction } from '../../postgres/connect.ts'
import type { EventType } from '../events/event-types.ts'
import { hasAtMost, isLine } from '../../core/is-line.ts'
import { requireMember } from '../members/change-member.ts'
import { lockMember } from '../members/queries.ts'
import { because } from '../../core/reasons.ts'
import { NotFound, Refusal, type FieldProblem } from '../../core/refusal.ts'
import { deleteRemoval, recordRemoval } from '../removals/queries.ts'
import { findOfficeListing } from './admin-queries.ts'
import { ensureCategories } from './ensure-categories.ts'
import {
  findListingRecord,
  insertListing,
  lockListing,
  updateListing,
  type ListingRecord,
  type NewListing,
} from './queries.ts'
import { recordListingEvents } from './record-listing-events.ts'

const TITLE_LENGTH_MAX = 200
const DESCRIPTION_LENGTH_MAX = 5000
const CATEGORY_LENGTH_MAX = 100

export async function publishListing(
  sql: Queries,
  actor: Actor,
  communityId: number,
  input: NewListing,
): Promise<ListingRecord> {
  checkListing(input)
  return transaction(sql, async (tx) => {
    const member = await lockMember(tx, communityId, input.member_id)
    if (!member || member.erased_at !== null) {
      throw new Refusal(because('no_member', { id: input.member_id }), { field: 'member_id' })
    }
    if (member.status !== 'active') {
      throw new Refusal(because('member_left', { id: member.id }), { field: 'member_id' })
    }
    if (await isRetired(tx, communityId, input.category)) throw categoryRetired(input.category)
    const listing = await insertListing(tx, communityId, { ...input, visible: member.visible })
    await recordChange(tx, actor, communityId, listing, 'listing.published', listing.visible)
    return listing
  })
}

export async function changeListing(
  sql: Queries,
  actor: Actor,
  communityId: number,
  id: number,
  input: Partial<Omit<NewListing, 'member_id'>>,
  checkBefore: (before: ListingRecord) => void = () => {},
): Promise<ListingRecord> {
  checkListing(input)
  return transaction(sql, async (tx) => {
    const { category } = input
    const isRefused = category !== undefined && (await isRetired(tx, communityId, category))
    const before = await requireListing(tx, communityId, id)
    checkBefore(before)
    const changes = Object.fromEntries(
      Object.entries(input).filter(([field, value]) => before[field as keyof ListingRecord] !== value),
    )
    if (Object.keys(changes).length === 0) return before
    if ('category' in changes && isRefused) throw categoryRetired(category)
    const changed = await updateListing(tx, communityId, id, changes)
    await recordChange(tx, actor, communityId, changed, 'listing.updated', changed.visible)
    return changed
  })
}

/** Creates the category if it does not exist. */
async function isRetired(tx: Transaction, communityId: number, name: string): Promise<boolean> {
  const [category] = await ensureCategories(tx, communityId, [name])
  return category!.is_retired
}

function categoryRetired(name: string): Refusal {
  return new Refusal(because('category_retired', { name }), { field: 'category' })
}

export async function closeListing(
  sql: Queries,
  actor: Actor,
  communityId: number,
  id: number,
): Promise<ListingRecord> {
  return transaction(sql, async (tx) => {
    const before = await requireListing(tx, communityId, id)
    if (before.status === 'closed') return before
    const closed = await updateListing(tx, communityId, id, { status: 'closed', visible: false })
    if (before.visible) await recordRemoval(tx, communityId, 'listing', [id])
    await recordChange(tx, actor, communityId, closed, 'listing.closed', before.visible)
    return closed
  })
}

export async function reopenListing(
  sql: Queries,
  actor: Actor,
  communityId: number,
  id: number,
): Promise<ListingRecord> {
  return transaction(sql, async (tx) => {
    const found = await findListingRecord(tx, communityId, id)
    if (!found) throw new NotFound(because('no_listing', { id }))
    // Lock the member before the listing, in the same order as leaving does.
    const member = await requireMember(tx, communityId, found.member_id)
    const before = await requireListing(tx, communityId, id)
    if (before.status === 'active') return before
    if (member.status !== 'active') throw new Refusal(because('member_left', { id: member.id }))
    const opened = await updateListing(tx, communityId, id, { status: 'active', visible: member.visible })
    if (opened.visible) await deleteRemoval(tx, communityId, 'listing', [id])
    await recordChange(tx, actor, communityId, opened, 'listing.published', opened.visible)
    return opened
  })
}

/** Erasing a member locks the listing before it blanks it, so under the lock that is either over or still to come. */
async function requireListing(tx: Transaction, communityId: number, id: number): Promise<ListingRecord> {
  const listing = await lockListing(tx, communityId, id)
  if (!listing || !(await findOfficeListing(tx, communityId, id))) throw new NotFound(because('no_listing', { id }))
  return listing
}

export function listingProblems({ title, description, category, centihours }: Partial<NewListing>): FieldProblem[] {
  const problems: FieldProblem[] = []
  if (title !== undefined && (!isLine(title, TITLE_LENGTH_MAX) || title.trim() === '')) {
    problems.push({ field: 'title', reason: because('title_length', { max: TITLE_LENGTH_MAX }) })
  }
  if (description !== undefined && (!hasAtMost(description, DESCRIPTION_LENGTH_MAX) || !isText(description))) {
    problems.push({ field: 'description', reason: because('description_too_long', { max: DESCRIPTION_LENGTH_MAX }) })
  }
  if (category !== undefined && (!isLine(category, CATEGORY_LENGTH_MAX) || category.trim() === '')) {
    problems.push({ field: 'category', reason: because('category_length', { max: CATEGORY_LENGTH_MAX }) })
  }
  if (centihours !== undefined && centihours !== null && !(Number.isSafeInteger(centihours) && centihours > 0)) {
    problems.push({ field: 'hours', reason: because('hours_positive') })
  }
  return problems
}

/** Line breaks and tabs are allowed. PostgreSQL cannot store NUL characters. */
function isText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}

function checkListing(input: Partial<NewListing>): void {
  const problems = listingProblems(input)
  if (problems.length > 0) throw new Refusal(problems)
}

/** Every change is audited. An event is recorded only if partners could or can see the listing. */
async function recordChange(
  tx: Transaction,
  actor: Actor,
  communityId: number,
  listing: ListingRecord,
  type: EventType,
  notifyPartners: boolean,
): Promise<void> {
  await recordAudit(tx, communityId, actor, { action: type, subject: { kind: 'listing', id: listing.id } })
  if (notifyPartners) await recordListingEvents(tx, communityId, type, [listing])
}
