import { CsvDownload } from '../../parts/csv-download.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { ChoiceFilter, FilterBar, SearchFilter, useFilters } from '../../parts/filter-bar.tsx'
import { Hours } from '../../parts/hours.tsx'
import { LinkButton } from '../../parts/links.tsx'
import { PageHeader } from '../../parts/page-header.tsx'
import { Time } from '../../parts/time.tsx'
import { useList } from '../../reading.ts'
import { useCommunity, useCommunityPath, useRole } from '../../session.ts'
import { AddMember } from './add-member.tsx'
import { MEMBER_FIELDS } from './member-fields.tsx'
import { MemberStatus } from './member-status.tsx'
import type { OfficeMember } from '../../wire.ts'

const STATUSES = [
  { value: 'active', label: 'Active' },
  { value: 'inactive', label: 'Left' },
  { value: 'erased', label: 'Erased' },
]
const VISIBILITIES = [
  { value: 'false', label: 'Seen by partners' },
  { value: 'true', label: 'Hidden from partners' },
]

interface Filters {
  q?: string
  status?: string
  hidden?: string
}

export function Members() {
  const { slug } = useCommunity()
  const path = useCommunityPath()
  const { mayManage } = useRole()
  const [{ q, status, hidden }] = useFilters<Filters>()
  const list = useList<OfficeMember>(path('/members'), { q, status, hidden })
  return (
    <>
      <PageHeader
        title="Members"
        description="Everyone who exchanges hours here."
        actions={
          <>
            <CsvDownload path={path('/members/export')} sensitive />
            {mayManage && (
              <LinkButton variant="default" to="/$slug/members/import" params={{ slug }}>
                Import CSV
              </LinkButton>
            )}
            {mayManage && <AddMember />}
          </>
        }
      />
      <FilterBar names={['q', 'status', 'hidden']}>
        <SearchFilter placeholder="Name, email, number or reference" />
        <ChoiceFilter name="status" label="Status" choices={STATUSES} any="All but erased" />
        <ChoiceFilter name="hidden" label="Partners" choices={VISIBILITIES} />
      </FilterBar>
      <DataTable
        label="Members"
        list={list}
        rowKey={(member) => member.id}
        rowLink={(member) => ({ to: '/$slug/members/$id', params: { slug, id: String(member.id) } })}
        empty={q || status || hidden ? <NothingFound /> : <NobodyYet />}
        columns={[
          ...MEMBER_FIELDS.map(({ name, title }): Column<OfficeMember> => ({
            header: title,
            cell: (member) => member[name] ?? '–',
          })),
          { header: 'Status', cell: (member) => <MemberStatus member={member} /> },
          { header: 'Joined', cell: (member) => <Time value={member.joined_at} as="date" /> },
          { header: 'Balance', align: 'end', cell: (member) => <Hours value={member.balance_hours} /> },
        ]}
      />
    </>
  )
}

function NothingFound() {
  return (
    <EmptyState title="Nobody fits">
      Every word must be the beginning of a word of the name, the email address, the number or the payment reference.
      Try fewer letters, or clear the filters.
    </EmptyState>
  )
}

function NobodyYet() {
  return (
    <EmptyState title="No members yet">
      Add the first one, or import all of them from a spreadsheet: before anything is written you see what becomes of
      each row.
    </EmptyState>
  )
}
