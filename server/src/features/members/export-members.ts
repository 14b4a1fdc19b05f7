import type { CommunityRow } from '../communities/queries.ts'
import type { Export } from '../../csv/export-rows.ts'
import { commaSeparated, identifier } from '../../postgres/connect.ts'
import { standInIds } from '../../csv/stand-in-ids.ts'
import { CSV_COLUMNS } from './fields.ts'
import type { MemberRecord } from './queries.ts'

const OTHER_COLUMNS = commaSeparated(CSV_COLUMNS.filter((name) => name !== 'external_id').map(identifier))

type ExportedMember = Pick<MemberRecord, (typeof CSV_COLUMNS)[number]>

/** Exports every member who is not erased, including those who left, in the id order that an import restores. */
export function membersExport(community: CommunityRow): Export<ExportedMember> {
  const { prefix } = standInIds(community)
  return {
    columns: CSV_COLUMNS,
    select: (tx) => tx<ExportedMember[]>`
      select ${OTHER_COLUMNS}, coalesce(external_id, ${prefix}::text || id) as external_id
      from members where community_id = ${community.id} and erased_at is null order by id`,
    fields: (member) => member,
    count: async (tx) => {
      const [row] = await tx<[{ count: number }]>`
        select count(*) from members where community_id = ${community.id} and erased_at is null`
      return row.count
    },
  }
}
