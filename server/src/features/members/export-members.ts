import type { CommunityRow } from '../communities/queries.ts'
import type { Export } from '../../csv/export-rows.ts'
import { standInIds } from '../../csv/stand-in-ids.ts'
import { MEMBER_COLUMNS } from './import-members.ts'

interface ExportedMember {
  external_id: string
  name: string
  email: string | null
  status: string
  hidden: boolean
  joined_at: string
}

/** All but the erased, those who left too; in the order of ids, in which an import adds them. */
export function membersExport(community: CommunityRow): Export<ExportedMember> {
  const { prefix } = standInIds(community)
  return {
    columns: MEMBER_COLUMNS,
    select: (tx) => tx<ExportedMember[]>`
      select coalesce(external_id, ${prefix}::text || id) as external_id, name, email, status, hidden, joined_at
      from members where community_id = ${community.id} and erased_at is null order by id`,
    values: ({ external_id, name, email, status, hidden, joined_at }) => [
      external_id,
      name,
      email,
      status,
      hidden,
      joined_at,
    ],
    count: async (tx) => {
      const [row] = await tx<[{ count: number }]>`
        select count(*) from members where community_id = ${community.id} and erased_at is null`
      return row.count
    },
  }
}
