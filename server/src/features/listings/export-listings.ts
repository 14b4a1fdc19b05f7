import type { CommunityRow } from '../communities/queries.ts'
import type { Export } from '../../csv/export-rows.ts'
import { standInIds } from '../../csv/stand-in-ids.ts'
import { toHours } from '../../core/hours.ts'
import { LISTING_COLUMNS } from './import-listings.ts'
import type { ListingRecord } from './queries.ts'

type ExportedListing = Pick<
  ListingRecord,
  'external_id' | 'type' | 'title' | 'description' | 'category' | 'centihours' | 'created_at'
> & { member_external_id: string; status: string }

/** Exports all listings except those of erased members, in the id order that an import restores. */
export function listingsExport(community: CommunityRow): Export<ExportedListing> {
  const { prefix } = standInIds(community)
  return {
    columns: LISTING_COLUMNS,
    select: (tx) => tx<ExportedListing[]>`
      select coalesce(l.external_id, ${prefix}::text || l.id) as external_id,
        coalesce(m.external_id, ${prefix}::text || m.id) as member_external_id,
        l.type, l.title, l.description, l.category, l.centihours,
        case when l.closed_by_leaving then 'closed_with_member' else l.status end as status, l.created_at
      from listings l join members m on m.community_id = ${community.id} and m.id = l.member_id
      where l.community_id = ${community.id} and m.erased_at is null
      order by l.id`,
    fields: (row) => ({ ...row, hours: row.centihours === null ? null : toHours(row.centihours) }),
    count: async (tx) => {
      const [row] = await tx<[{ count: number }]>`select count(*) from listings where community_id = ${community.id}`
      return row.count
    },
  }
}
