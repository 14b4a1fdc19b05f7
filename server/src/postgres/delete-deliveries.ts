import type { Queries } from './connect.ts'

/**
 * Deletes deliveries that the transaction has locked, and their attempts before them: an erasure finds what receivers
 * answered about a person by its delivery only. Not in the statement that locks, which would not see the attempts of a
 * result that was recorded while it waited.
 */
export async function deleteLockedDeliveries(tx: Queries, communityId: number, ids: number[]): Promise<number> {
  await tx`delete from attempts where community_id = ${communityId} and delivery_id = any (${ids}::int8[])`
  const { count } = await tx`delete from deliveries where community_id = ${communityId} and id = any (${ids}::int8[])`
  return count
}
