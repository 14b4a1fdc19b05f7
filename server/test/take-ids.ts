import type { Queries } from '../src/postgres/connect.ts'

/**
 * Takes ids from the community's counter, as the service does, and returns the first. Only a database on one server has
 * triggers that assign ids to rows without one.
 */
export async function takeIds(
  queries: Queries,
  communityId: number,
  table: 'members' | 'listings' | 'subscriptions' | 'credits',
  count = 1,
  partnerId = 0,
): Promise<number> {
  const [row] = await queries<[{ first: number }]>`
    select take_ids(${communityId}, ${table}, ${partnerId}, ${count}) as first`
  return row.first
}
