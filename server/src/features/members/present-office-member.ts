import { toHours } from '../../core/hours.ts'
import { versionOf } from '../../http/console/versions.ts'
import type { OfficeMemberRow } from './admin-queries.ts'
import type { ListedMember, OfficeMember, StatementRow } from './admin-schema.ts'
import { FIELD_NAMES, type MemberFields } from './fields.ts'
import type { ListedMemberRow } from './member-list-queries.ts'
import type { StatementTransfer } from './statement-queries.ts'

export function presentOfficeMember(row: OfficeMemberRow): OfficeMember {
  const { balance, visible: _visible, version: _version, ...member } = row
  return { ...member, balance_hours: toHours(balance), version: memberVersion(row) }
}

export function presentListedMember(row: ListedMemberRow): ListedMember {
  const { balance, visible: _visible, version: _version, ...member } = row
  return { ...member, balance_hours: toHours(balance) }
}

export function memberVersion(row: MemberFields): string {
  return versionOf(FIELD_NAMES.map((name) => row[name]))
}

export function presentStatementRow(row: StatementTransfer, communityName: string): StatementRow {
  const { id, kind, occurred_on, created_at, reference, note, reverses_id, reversed_by_id } = row
  return {
    id,
    kind,
    hours: toHours(row.change),
    balance_hours: toHours(row.balance_after),
    occurred_on,
    created_at,
    other: { kind: row.other_kind, id: row.other_id, name: row.other_name ?? communityName },
    listing: row.listing_id === null ? null : { id: row.listing_id, title: row.listing_title! },
    reference,
    note,
    reverses_id,
    reversed_by_id,
  }
}
