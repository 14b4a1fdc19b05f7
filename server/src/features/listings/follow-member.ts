import type { Transaction } from '../../postgres/connect.ts'
import type { EventType } from '../events/event-types.ts'
import type { MemberRecord } from '../members/queries.ts'
import { deleteRemoval, recordRemoval } from '../removals/queries.ts'
import { closeWithMember, reopenWithMember, setListingsVisible, type ChangedListing } from './queries.ts'
import { recordListingEvents } from './record-listing-events.ts'

/** Closes the listings of a member who leaves. */
export async function closeListingsOnLeave(tx: Transaction, communityId: number, memberId: number): Promise<void> {
  await recordChanges(tx, communityId, 'listing.closed', await closeWithMember(tx, communityId, memberId))
}

/** Reopens the listings that were closed when the member left. */
export async function reopenListingsOnReturn(
  tx: Transaction,
  communityId: number,
  member: MemberRecord,
): Promise<void> {
  await recordChanges(
    tx,
    communityId,
    'listing.published',
    await reopenWithMember(tx, communityId, member.id, member.visible),
  )
}

/** Shows or hides the listings with their member. Hidden listings stay active. */
export async function updateListingVisibility(
  tx: Transaction,
  communityId: number,
  member: MemberRecord,
): Promise<void> {
  const changed = await setListingsVisible(tx, communityId, member.id, member.visible)
  await recordChanges(tx, communityId, member.visible ? 'listing.published' : 'listing.closed', changed)
}

/** Records removals and events for the listings that partners could or can see. */
async function recordChanges(
  tx: Transaction,
  communityId: number,
  type: EventType,
  changed: ChangedListing[],
): Promise<void> {
  const seen = changed.filter(({ was_visible, visible }) => was_visible || visible)
  const removedIds = seen.filter(({ visible }) => !visible).map(({ id }) => id)
  const restoredIds = seen.filter(({ visible }) => visible).map(({ id }) => id)
  if (removedIds.length > 0) await recordRemoval(tx, communityId, 'listing', removedIds)
  if (restoredIds.length > 0) await deleteRemoval(tx, communityId, 'listing', restoredIds)
  await recordListingEvents(tx, communityId, type, seen)
}
