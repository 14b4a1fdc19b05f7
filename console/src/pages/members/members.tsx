import { msg, plural, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Badge } from '@mantine/core'
import { Suspense, useState } from 'react'
import { translated } from '../../language/translate.ts'
import { CsvDownload } from '../../parts/csv-download.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { formatDay, monthsBefore, today } from '../../parts/day.ts'
import { EmptyState } from '../../parts/empty-state.tsx'
import { ChoiceFilter, FilterBar, SearchFilter, useFilters } from '../../parts/filter-bar.tsx'
import { returnFocus } from '../../parts/focus.ts'
import { Hours } from '../../parts/hours.tsx'
import { lazyPart } from '../../parts/lazy-dialog.tsx'
import { LinkButton } from '../../parts/links.tsx'
import { listQuery, RowsFilter, Total } from '../../parts/list-tools.tsx'
import { ButtonLoading } from '../../parts/loading.tsx'
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
  { value: 'active', label: msg`Active` },
  { value: 'inactive', label: msg`Left` },
  { value: 'erased', label: msg`Erased` },
]
const VISIBILITIES = [
  { value: 'false', label: msg`Seen by partners` },
  { value: 'true', label: msg`Hidden from partners` },
]
const BALANCES = [
  { value: 'negative', label: msg`Below 0` },
  { value: 'near_limit', label: msg`Near the limit (2 h)` },
  { value: 'positive', label: msg`Above 0` },
]
/** Months without an exchange. */
const PAUSES = ['3', '6', '12', '24']
const SORTS = [
  { value: 'name', label: msg`Name` },
  { value: '-balance', label: msg`Balance, highest` },
  { value: 'balance', label: msg`Balance, lowest` },
  { value: '-last_active_on', label: msg`Last exchange, latest` },
  { value: 'last_active_on', label: msg`Last exchange, longest ago` },
  { value: 'joined_at', label: msg`Joined, longest ago` },
]
const NAMES = ['q', 'status', 'hidden', 'balance', 'inactive', 'tag']

type Filters = { [name in 'q' | 'status' | 'hidden' | 'balance' | 'inactive' | 'tag' | 'sort' | 'rows']?: string }

function columns(): Column<ListedMember>[] {
  return [
    { header: t`Name`, sort: 'name', cell: (member) => <Described member={member} /> },
    { header: t`Number`, cell: (member) => member.external_id ?? '–' },
    { header: t`Phone`, cell: (member) => member.phone ?? '–' },
    {
      header: t`Last exchange`,
      sort: 'last_active_on',
      narrow: 'labelled',
      cell: (member) =>
        member.last_exchange_on ? <time>{formatDay(member.last_exchange_on)}</time> : t`none since joining`,
    },
    { header: t`Joined`, sort: 'joined_at', cell: (member) => <Time value={member.joined_at} as="date" /> },
    {
      header: t`Balance`,
      sort: 'balance',
      align: 'end',
      narrow: 'end',
      cell: (member) => <Hours value={member.balance_hours} />,
    },
  ]
}

export function Members() {
  const { slug } = useCommunity()
  const path = useCommunityPath()
  const zone = useTimeZone()
  const { mayManage } = useRole()
  const [{ q, status, hidden, balance, inactive, tag, sort, rows }] = useFilters<Filters>()
  const isPause = inactive !== undefined && PAUSES.includes(inactive)
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
        title={t`Members`}
        description={t`Everyone who exchanges hours here.`}
        actions={
          <>
            <CsvDownload path={path('/members/export')} sensitive formats />
            {mayManage && (
              <LinkButton variant="default" to="/$slug/members/import" params={{ slug }}>
                <Trans>Import CSV</Trans>
              </LinkButton>
            )}
            {mayManage && <AddButton />}
          </>
        }
      />
      <FilterBar names={NAMES}>
        <SearchFilter placeholder={t`Name, email, number or reference`} />
        <ChoiceFilter name="status" label={t`Status`} choices={translated(STATUSES)} any={t`Not erased`} />
        <ChoiceFilter name="balance" label={t`Balance`} choices={translated(BALANCES)} />
        <ChoiceFilter
          name="inactive"
          label={t`Exchanges`}
          choices={PAUSES.map((value) => ({ value, label: pauseText(Number(value)) }))}
        />
        <ChoiceFilter name="tag" label={t`Tag`} choices={(tags.data ?? []).map((value) => ({ value, label: value }))} />
        <ChoiceFilter name="hidden" label={t`Partners`} choices={translated(VISIBILITIES)} />
        <ChoiceFilter name="sort" label={t`Sort by`} choices={translated(SORTS)} any={t`Newest`} />
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
            clear={() => {
              setMarked(new Set())
              // These buttons are gone then.
              returnFocus(document.querySelector('table input'))
            }}
          />
        </Suspense>
      )}
      <DataTable
        label={t`Members`}
        list={list}
        rowKey={(member) => member.id}
        rowLink={(member) => ({ to: '/$slug/members/$id', params: { slug, id: String(member.id) } })}
        selection={{ has: ({ id }) => marked.has(id), set: mark, label: ({ name }) => t`Select ${name}` }}
        empty={Object.values(filters).some(Boolean) ? <NothingFound /> : <NobodyYet mayManage={mayManage} />}
        columns={columns()}
      />
    </>
  )
}

function pauseText(months: number): string {
  return plural(months, { one: 'None for # month', other: 'None for # months' })
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
    <EmptyState title={t`Nobody fits`}>
      <Trans>
        Every word must be the beginning of a word of the name, the email address, the number or the payment reference.
        Try fewer letters, or clear the filters.
      </Trans>
    </EmptyState>
  )
}

function AddButton() {
  return (
    <Suspense fallback={<ButtonLoading label={t`Add member`} />}>
      <AddMember />
    </Suspense>
  )
}

function NobodyYet({ mayManage }: { mayManage: boolean }) {
  const { slug } = useCommunity()
  return (
    // A link: a second form would open with that of the button above.
    <EmptyState
      title={t`No members yet`}
      action={
        mayManage && (
          <LinkButton to="/$slug/members" params={{ slug }} search={{ add: 'true' }}>
            <Trans>Add member</Trans>
          </LinkButton>
        )
      }
    >
      <Trans>
        Add the first one, or import all of them from a spreadsheet: before anything is saved, you see what would happen
        to each row.
      </Trans>
    </EmptyState>
  )
}
