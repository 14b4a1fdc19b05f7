import type { Transaction } from '../../postgres/connect.ts'
import type { EventType } from '../events/event-types.ts'
import { recordEvents } from '../events/record.ts'
import type { MemberRecord } from '../members/queries.ts'
import { forgetRemoval, recordRemoval } from '../removals/queries.ts'
import { listingSnapshot } from './present-listing.ts'
import { closeWithMember, reopenWithMember, setListingsVisible, type ChangedListing } from './queries.ts'

/** A member who leaves closes their listings, each with its event. */
export async function closeListingsOfLeaver(tx: Transaction, communityId: number, memberId: number): Promise<void> {
  await tell(tx, communityId, 'listing.closed', await closeWithMember(tx, communityId, memberId))
}

/** Who returns, reopens them. */
export async function reopenListingsOfReturner(
  tx: Transaction,
  communityId: number,
  member: MemberRecord,
): Promise<void> {
  await tell(tx, communityId, 'listing.published', await reopenWithMember(tx, communityId, member.id, member.visible))
}

/** Listings of a hidden member stay open, hideFromPlanner by partners. */
export async function showListings(tx: Transaction, communityId: number, member: MemberRecord): Promise<void> {
  const changed = await setListingsVisible(tx, communityId, member.id, member.visible)
  await tell(tx, communityId, member.visible ? 'listing.published' : 'listing.closed', changed)
}

/** Only of what partners could see, or can see now. */
async function tell(tx: Transaction, communityId: number, type: EventType, changed: ChangedListing[]): Promise<void> {
  const seen = changed.filter(({ was_visible, visible }) => was_visible || visible)
  const gone = seen.filter(({ visible }) => !visible)
  const back = seen.filter(({ visible }) => visible)
  if (gone.length > 0)
    await recordRemoval(
      tx,
      communityId,
      'listing',
      gone.map(({ id }) => id),
    )
  if (back.length > 0)
    await forgetRemoval(
      tx,
      communityId,
      'listing',
      back.map(({ id }) => id),
    )
  await recordEvents(
    tx,
    communityId,
    seen.map((listing) => ({
      type,
      memberId: listing.member_id,
      listingId: listing.id,
      data: listingSnapshot(listing),
    })),
  )
}
