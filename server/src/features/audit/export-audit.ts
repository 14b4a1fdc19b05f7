import type { Export } from '../../csv/export-rows.ts'
import { selectAudit, type AuditFilters, type AuditRow } from './admin-queries.ts'

const COLUMNS = [
  'id',
  'at',
  'actor_kind',
  'actor_id',
  'actor_name',
  'action',
  'subject_kind',
  'subject_id',
  'detail',
  'member_ids',
]

/** Exports the oldest entries first. */
export function auditExport(communityId: number, filters: AuditFilters): Export<AuditRow> {
  return {
    columns: COLUMNS,
    select: (tx) => tx<AuditRow[]>`${selectAudit(tx, communityId, filters)} order by id`,
    fields: (row) => ({ ...row, detail: JSON.stringify(row.detail), member_ids: row.member_ids?.join(' ') ?? null }),
    count: async (tx) => {
      const [row] = await tx<[{ count: number }]>`
        select count(*) from (${selectAudit(tx, communityId, filters)}) entries`
      return row.count
    },
  }
}
