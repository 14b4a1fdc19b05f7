import type { Transaction } from '../../postgres/connect.ts'
import type { EventType } from '../events/event-types.ts'
import { recordEvents } from '../events/record.ts'
import { presentListing } from './present-listing.ts'
import type { ListingRecord } from './queries.ts'

/** Records an event for each listing, with its data at that time. A listing that partners no longer see has none. */
export async function recordListingEvents(
  tx: Transaction,
  communityId: number,
  type: EventType,
  listings: ListingRecord[],
): Promise<void> {
  const events = listings.map((listing) => {
    const { id, member_id, version, visible } = listing
    const data = visible ? { ...presentListing({ ...listing, status: 'active' }), version } : { id, version }
    return { type, memberId: member_id, listingId: id, data }
  })
  await recordEvents(tx, communityId, events)
}
