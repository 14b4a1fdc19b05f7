import type { Queries } from '../../postgres/connect.ts'
import { recordColumns, type ListingRecord } from './queries.ts'

/** A listing as administrators see it, with its member. */
export interface OfficeListingRow extends ListingRecord {
  member_name: string
  member_status: 'active' | 'inactive'
  member_hidden: boolean
  sort_key: string
}

export const officeListingColumns = (sql: Queries) => sql`
  ${recordColumns(sql, sql`l.`)}, m.name as member_name, m.status as member_status, m.hidden as member_hidden,
  sort_name(l.title) as sort_key`

export async function findOfficeListing(
  sql: Queries,
  communityId: number,
  id: number,
): Promise<OfficeListingRow | undefined> {
  const [row] = await sql<OfficeListingRow[]>`
    select ${officeListingColumns(sql)} from listings l
    join members m on m.community_id = ${communityId} and m.id = l.member_id
    where l.community_id = ${communityId} and l.id = ${id} and m.erased_at is null`
  return row
}
