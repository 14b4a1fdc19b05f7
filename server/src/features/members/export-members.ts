import type { CommunityRow } from '../communities/queries.ts'
import type { Export } from '../../csv/export-rows.ts'
import { standInIds } from '../../csv/stand-in-ids.ts'
import { MEMBER_COLUMNS } from './import-members.ts'
import type { MemberRecord } from './queries.ts'

type ExportedMember = Pick<MemberRecord, (typeof MEMBER_COLUMNS)[number]>

/** Exports every member who is not erased, including those who left, in the id order that an import restores. */
export function membersExport(community: CommunityRow): Export<ExportedMember> {
  const { prefix } = standInIds(community)
  return {
    columns: MEMBER_COLUMNS,
    select: (tx) => tx<ExportedMember[]>`
      select coalesce(external_id, ${prefix}::text || id) as external_id, name, email, status, hidden, joined_at
      from members where community_id = ${community.id} and erased_at is null order by id`,
    values: (member) => MEMBER_COLUMNS.map((column) => member[column]),
    count: async (tx) => {
      const [row] = await tx<[{ count: number }]>`
        select count(*) from members where community_id = ${community.id} and erased_at is null`
      return row.count
    },
  }
}
