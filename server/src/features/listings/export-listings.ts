import type { CommunityRow } from '../communities/queries.ts'
import type { Export } from '../../csv/export-rows.ts'
import { standInIds } from '../../csv/stand-in-ids.ts'
import { toHours } from '../../core/hours.ts'
import { LISTING_COLUMNS } from './import-listings.ts'

interface ExportedListing {
  external_id: string
  member_external_id: string
  type: string
  title: string
  description: string
  category: string
  centihours: number | null
  status: string
  created_at: string
}

/** All but those of erased members, the closed ones too; in the order of ids, in which an import adds them. */
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
    values: (row) => [
      row.external_id,
      row.member_external_id,
      row.type,
      row.title,
      row.description,
      row.category,
      row.centihours === null ? null : toHours(row.centihours),
      row.status,
      row.created_at,
    ],
    count: async (tx) => {
      const [row] = await tx<[{ count: number }]>`select count(*) from listings where community_id = ${community.id}`
      return row.count
    },
  }
}
