import type { Transaction } from '../../postgres/connect.ts'
import { touchListings } from './queries.ts'
import { recordListingEvents } from './record-listing-events.ts'

const BATCH_MAX = 1000

/** Records an update of every listing in a renamed category, because partners see the name in each of them. */
export async function recordCategoryRename(
  tx: Transaction,
  communityId: number,
  { from, to }: { from: string; to: string },
): Promise<void> {
  let after = 0
  for (;;) {
    const batch = await touchListings(tx, communityId, { from, to, after, limit: BATCH_MAX })
    const visible = batch.filter((listing) => listing.visible)
    await recordListingEvents(tx, communityId, 'listing.updated', visible)
    if (batch.length < BATCH_MAX) return
    after = batch.at(-1)!.id
  }
}
