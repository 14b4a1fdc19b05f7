import { plural } from '@lingui/core/macro'
import { Badge } from '@mantine/core'
import { Suspense, useState } from 'react'
import { CsvDownload } from '../../parts/csv-download.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { formatDay, monthsBefore, today } from '../../parts/day.ts'
import { EmptyState } from '../../parts/empty-state.tsx'
import { ChoiceFilter, FilterBar, SearchFilter, useFilters } from '../../parts/filter-bar.tsx'
import { Hours } from '../../parts/hours.tsx'
import { lazyPart } from '../../parts/lazy-dialog.tsx'
import { LinkButton } from '../../parts/links.tsx'
import { listQuery, RowsFilter, Total } from '../../parts/list-tools.tsx'
import { Name } from '../../parts/name.tsx'
import { PageHeader } from '../../parts/page-header.tsx'
import { Time, useTimeZone } from '../../parts/time.tsx'
import { useList, useRead } from '../../reading.ts'
import { useCommunity, useCommunityPath, useRole } from '../../session.ts'
import { MemberStatus } from './member-status.tsx'
import type { ListedMember } from '../../wire.ts'

const AddMember = lazyPart(async () => (await import('./add-member.tsx')).AddMember)
const SelectedMembers = lazyPart(async () => (await import('./selected-members.tsx')).SelectedMembers)

const STATUSES = [
  { value: 'active', label: 'Active' },
  { value: 'inactive', label: 'Left' },
  { value: 'erased', label: 'Erased' },
]
const VISIBILITIES = [
  { value: 'false', label: 'Seen by partners' },
  { value: 'true', label: 'Hidden from partners' },
]
const BALANCES = [
  { value: 'negative', label: 'Below 0' },
  { value: 'near_limit', label: 'Near the limit (2 h)' },
  { value: 'positive', label: 'Above 0' },
]
const PAUSES = ['3', '6', '12', '24'].map((value) => ({ value, label: `None for ${value} months` }))
const SORTS = [
  { value: 'name', label: 'Name' },
  { value: '-balance', label: 'Balance, highest' },
  { value: 'balance', label: 'Balance, lowest' },
  { value: '-last_active_on', label: 'Last exchange, latest' },
  { value: 'last_active_on', label: 'Last exchange, longest ago' },
  { value: 'joined_at', label: 'Joined, longest ago' },
]
const NAMES = ['q', 'status', 'hidden', 'balance', 'inactive', 'tag']

type Filters = { [name in 'q' | 'status' | 'hidden' | 'balance' | 'inactive' | 'tag' | 'sort' | 'rows']?: string }

const COLUMNS: Column<ListedMember>[] = [
  { header: 'Name', sort: 'name', cell: (member) => <Described member={member} /> },
  { header: 'Number', cell: (member) => member.external_id ?? '–' },
  { header: 'Phone', cell: (member) => member.phone ?? '–' },
  {
    header: 'Last exchange',
    sort: 'last_active_on',
    narrow: 'line',
    cell: (member) => <time>{formatDay(member.last_active_on)}</time>,
  },
  { header: 'Joined', sort: 'joined_at', cell: (member) => <Time value={member.joined_at} as="date" /> },
  {
    header: 'Balance',
    sort: 'balance',
    align: 'end',
    narrow: 'end',
    cell: (member) => <Hours value={member.balance_hours} />,
  },
]

export function Members() {
  const { slug } = useCommunity()
  const path = useCommunityPath()
  const zone = useTimeZone()
  const { mayManage } = useRole()
  const [{ q, status, hidden, balance, inactive, tag, sort, rows }] = useFilters<Filters>()
  const isPause = PAUSES.some(({ value }) => value === inactive)
  const inactive_since = isPause ? monthsBefore(today(zone), Number(inactive)) : undefined
  const filters = { q, status, hidden, balance, inactive_since, tag }
  const list = useList<ListedMember>(path('/members'), { ...filters, sort, ...listQuery(rows) })
  const tags = useRead<string[]>(path('/tags'))
  const [marked, setMarked] = useState<ReadonlySet<number>>(new Set())
  const mark = (members: ListedMember[], isMarked: boolean) => {
    const next = new Set(marked)
    for (const { id } of members) {
      if (isMarked) next.add(id)
      else next.delete(id)
    }
    setMarked(next)
  }
  return (
    <>
      <PageHeader
        title="Members"
        description="Everyone who exchanges hours here."
        actions={
          <>
            <CsvDownload path={path('/members/export')} sensitive formats />
            {mayManage && (
              <LinkButton variant="default" to="/$slug/members/import" params={{ slug }}>
                Import CSV
              </LinkButton>
            )}
            <Suspense>{mayManage && <AddMember />}</Suspense>
          </>
        }
      />
      <FilterBar names={NAMES}>
        <SearchFilter placeholder="Name, email, number or reference" />
        <ChoiceFilter name="status" label="Status" choices={STATUSES} any="All but erased" />
        <ChoiceFilter name="balance" label="Balance" choices={BALANCES} />
        <ChoiceFilter name="inactive" label="Exchanges" choices={PAUSES} />
        <ChoiceFilter name="tag" label="Tag" choices={(tags.data ?? []).map((value) => ({ value, label: value }))} />
        <ChoiceFilter name="hidden" label="Partners" choices={VISIBILITIES} />
        <ChoiceFilter name="sort" label="Sort by" choices={SORTS} any="Newest" />
        <RowsFilter />
      </FilterBar>
      <Total
        list={list}
        text={(total) => plural(total, { one: '# member', other: '# members' })}
        more={(total) => plural(total, { one: 'More than # member', other: 'More than # members' })}
      />
      {marked.size > 0 && (
        <Suspense>
          <SelectedMembers
            ids={[...marked]}
            selectAll={() => mark(list.data?.pages.flatMap((page) => page.data) ?? [], true)}
            clear={() => setMarked(new Set())}
          />
        </Suspense>
      )}
      <DataTable
        label="Members"
        list={list}
        rowKey={(member) => member.id}
        rowLink={(member) => ({ to: '/$slug/members/$id', params: { slug, id: String(member.id) } })}
        selection={{ has: ({ id }) => marked.has(id), set: mark, label: ({ name }) => `Select ${name}` }}
        empty={Object.values(filters).some(Boolean) ? <NothingFound /> : <NobodyYet />}
        columns={COLUMNS}
      />
    </>
  )
}

/** Most members are active and visible; they have no badge. */
function Described({ member }: { member: ListedMember }) {
  const isPlain = member.status === 'active' && !member.hidden
  return (
    <>
      <Name>{member.name}</Name>
      {!isPlain && (
        <>
          {' '}
          <MemberStatus member={member} />
        </>
      )}
      {member.tags.map((tag) => (
        <Badge key={tag} variant="default" tt="none" ms={6} size="sm">
          {tag}
        </Badge>
      ))}
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
