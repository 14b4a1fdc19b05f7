import type { Transaction } from '../../postgres/connect.ts'
import { recordEvents } from '../events/record.ts'
import { listingSnapshot } from './present-listing.ts'
import { recordColumns, type ListingRecord } from './queries.ts'

const BATCH_MAX = 1000

/** Records an update of every listing in a renamed category, because partners see the name in each of them. */
export async function recordCategoryRename(tx: Transaction, communityId: number, category: string): Promise<void> {
  let afterId = 0
  for (;;) {
    const batch = await touchListings(tx, communityId, category, afterId)
    const visible = batch.filter((listing) => listing.visible)
    await recordEvents(
      tx,
      communityId,
      visible.map((listing) => ({
        type: 'listing.updated',
        memberId: listing.member_id,
        listingId: listing.id,
        data: listingSnapshot(listing),
      })),
    )
    if (batch.length < BATCH_MAX) return
    afterId = batch.at(-1)!.id
  }
}

async function touchListings(
  tx: Transaction,
  communityId: number,
  category: string,
  afterId: number,
): Promise<ListingRecord[]> {
  return tx<ListingRecord[]>`
    with changed as (
      update listings set version = version + 1, updated_at = clock_timestamp()
      where community_id = ${communityId} and id = any (array(
        select id from listings where community_id = ${communityId} and category = ${category} and id > ${afterId}
        order by id limit ${BATCH_MAX} for no key update))
      returning ${recordColumns(tx)}
    )
    select * from changed order by id`
}
