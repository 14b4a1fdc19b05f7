import type { CommunityRow } from '../communities/queries.ts'
import type { Export } from '../../csv/export-rows.ts'
import { standInIds } from '../../csv/stand-in-ids.ts'
import { toHours } from '../../core/hours.ts'

const TRANSFER_COLUMNS = [
  'id',
  'kind',
  'occurred_on',
  'created_at',
  'hours',
  'from_kind',
  'from_external_id',
  'from_name',
  'from_balance_after',
  'to_kind',
  'to_external_id',
  'to_name',
  'to_balance_after',
  'reverses_id',
  'reversed_by_id',
  'listing_external_id',
  'reference',
  'note',
]

interface ExportedTransfer extends Record<string, string | number | null> {
  amount: number
  from_balance_after: number | null
  to_balance_after: number | null
}

/** Exports the whole ledger, one transfer per row, oldest first. */
export function transfersExport(community: CommunityRow): Export<ExportedTransfer> {
  const { id, name } = community
  const { prefix } = standInIds(community)
  return {
    columns: TRANSFER_COLUMNS,
    joinsAll: true,
    select: (tx) => tx<ExportedTransfer[]>`
      select t.id, t.kind, t.occurred_on, t.created_at, t.amount,
        d.kind as from_kind, coalesce(dm.external_id, ${prefix}::text || dm.id) as from_external_id,
        coalesce(dm.name, dp.name, ${name}) as from_name, t.debit_balance_after as from_balance_after,
        c.kind as to_kind, coalesce(cm.external_id, ${prefix}::text || cm.id) as to_external_id,
        coalesce(cm.name, cp.name, ${name}) as to_name, t.credit_balance_after as to_balance_after,
        t.reverses_id, r.id as reversed_by_id,
        coalesce(l.external_id, ${prefix}::text || l.id) as listing_external_id, k.reference, n.note
      from transfers t
      join accounts d on d.community_id = ${id} and d.id = t.debit_account_id
      join accounts c on c.community_id = ${id} and c.id = t.credit_account_id
      left join members dm on dm.community_id = ${id} and dm.id = d.member_id
      left join members cm on cm.community_id = ${id} and cm.id = c.member_id
      left join partners dp on dp.community_id = ${id} and dp.id = d.partner_id
      left join partners cp on cp.community_id = ${id} and cp.id = c.partner_id
      left join transfers r on r.community_id = ${id} and r.reverses_id = t.id
      left join listings l on l.community_id = ${id} and l.id = t.listing_id
      left join credits k on k.community_id = ${id} and k.transfer_id = t.id
      left join transfer_notes n on n.community_id = ${id} and n.transfer_id = t.id
      where t.community_id = ${id}
      order by t.id`,
    fields: (row) => ({
      ...row,
      hours: toHours(row.amount),
      from_balance_after: toHoursOrNull(row.from_balance_after),
      to_balance_after: toHoursOrNull(row.to_balance_after),
    }),
    count: async (tx) => {
      const [row] = await tx<[{ count: number }]>`select count(*) from transfers where community_id = ${id}`
      return row.count
    },
  }
}

function toHoursOrNull(centihours: number | null): number | null {
  return centihours === null ? null : toHours(centihours)
}
