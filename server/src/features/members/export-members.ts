import type { CommunityRow } from '../communities/queries.ts'
import type { Export } from '../../csv/export-rows.ts'
import { toHours } from '../../core/hours.ts'
import { commaSeparated, identifier, type Fragment, type Queries } from '../../postgres/connect.ts'
import { standInIds } from '../../csv/stand-in-ids.ts'
import { CSV_COLUMNS, READ_ONLY_COLUMNS } from './fields.ts'
import type { MemberRecord } from './queries.ts'
import { tagText } from './tag-queries.ts'

/** Columns that need an expression. */
const COMPUTED = new Set<string>(['external_id', 'tags'])
const STORED_COLUMNS = CSV_COLUMNS.filter((name) => !COMPUTED.has(name))

type ExportedMember = Pick<MemberRecord, Exclude<(typeof CSV_COLUMNS)[number], 'tags'> | 'payment_reference'> & {
  tags: string | null
  balance: number
}

/** Exports members who are not erased, including those who left, in the id order that an import restores. */
export function membersExport(community: CommunityRow, ids?: number[]): Export<ExportedMember> {
  const { prefix } = standInIds(community)
  const chosen = (tx: Queries, id: Fragment) => (ids === undefined ? tx`` : tx`and ${id} = any (${ids}::int8[])`)
  return {
    columns: [...CSV_COLUMNS, ...READ_ONLY_COLUMNS],
    joinsAll: true,
    select: (tx) => tx<ExportedMember[]>`
      select ${commaSeparated(STORED_COLUMNS.map((name) => tx`m.${identifier(name)}`))}, m.payment_reference, w.balance,
        coalesce(m.external_id, ${prefix}::text || m.id) as external_id, ${tagText(tx, community.id, 'm')} as tags
      from members m join accounts w on w.community_id = ${community.id} and w.member_id = m.id
      where m.community_id = ${community.id} and m.erased_at is null ${chosen(tx, tx`m.id`)} order by m.id`,
    fields: ({ balance, ...member }) => ({ ...member, balance_hours: toHours(balance) }),
    count: async (tx) => {
      const [row] = await tx<[{ count: number }]>`
        select count(*) from members where community_id = ${community.id} and erased_at is null ${chosen(tx, tx`id`)}`
      return row.count
    },
  }
}
