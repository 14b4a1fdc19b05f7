import { msg, plural, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Button, Stack, Text, TextInput } from '@mantine/core'
import { useSearch } from '@tanstack/react-router'
import { Suspense } from 'react'
import { translated } from '../../language/translate.ts'
import { CsvDownload } from '../../parts/csv-download.tsx'
import { DataTable } from '../../parts/data-table.tsx'
import { formatDay } from '../../parts/day.ts'
import { EmptyState } from '../../parts/empty-state.tsx'
import { ChoiceFilter, DateFilter, FilterBar, useFilters } from '../../parts/filter-bar.tsx'
import { Hours } from '../../parts/hours.tsx'
import { lazyDialog, lazyPart } from '../../parts/lazy-dialog.tsx'
import { LinkButton } from '../../parts/links.tsx'
import { listQuery, RowsFilter, Total } from '../../parts/list-tools.tsx'
import { Name } from '../../parts/name.tsx'
import { PageHeader } from '../../parts/page-header.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import { useList, useRead } from '../../reading.ts'
import { useCommunity, useCommunityPath, useRole } from '../../session.ts'
import type { Category, TransferRecord } from '../../wire.ts'
import { TransferText } from './transfer-text.tsx'
import { KIND_NAMES } from './words.ts'

const FILTERS = ['member', 'kind', 'status', 'category', 'from', 'until']
const KINDS = Object.entries(KIND_NAMES).map(([value, label]) => ({ value, label }))
const STATUSES = [
  { value: 'standing', label: msg`Standing` },
  { value: 'reversed', label: msg`Reversed` },
]

const SORTS = [
  { value: '-day', label: msg`Day, latest` },
  { value: 'day', label: msg`Day, earliest` },
]

const AdjustBalance = lazyDialog(
  async () => (await import('./adjust-balance.tsx')).AdjustBalance,
  (open) => (
    <Button variant="default" onClick={open}>
      <Trans>Adjust a balance</Trans>
    </Button>
  ),
)
/** Its list of members is the largest script of the page, and the table does not have to wait for it. */
const MemberFilter = lazyPart(async () => (await import('./member-filter.tsx')).MemberFilter)
const TransferDrawer = lazyPart(async () => (await import('./transfer-drawer.tsx')).TransferDrawer)

export function Exchanges() {
  const { slug } = useCommunity()
  const { mayManage } = useRole()
  const path = useCommunityPath()
  const search = useSearch({ strict: false })
  const [{ member, kind, status, category, from, until, sort, rows }] = useFilters<Record<string, string | undefined>>()
  const filters = { member_id: member, kind, status, category, from, until }
  const list = useList<TransferRecord>(path('/transfers'), { ...filters, sort, ...listQuery(rows) })
  const categories = useRead<Category[]>(path('/categories'))
  return (
    <>
      <PageHeader
        title={t`Exchanges`}
        description={t`Everything that moved hours between wallets. Nothing is ever deleted: a mistake is reversed, and both stay visible as one record.`}
        actions={
          <>
            <CsvDownload path={path('/transfers/export')} formats />
            {mayManage && <AdjustBalance />}
            {mayManage && <RecordButton slug={slug} />}
          </>
        }
      />
      <FilterBar names={FILTERS}>
        <Suspense fallback={<TextInput label={t`Member`} disabled />}>
          <MemberFilter />
        </Suspense>
        <ChoiceFilter name="kind" label={t`Kind`} choices={translated(KINDS)} />
        <ChoiceFilter name="status" label={t`Status`} choices={translated(STATUSES)} />
        <ChoiceFilter
          name="category"
          label={t`Category`}
          choices={(categories.data ?? []).map(({ name }) => ({ value: name, label: name }))}
        />
        <DateFilter name="from" label={t`From`} />
        <DateFilter name="until" label={t`Until`} />
        <ChoiceFilter name="sort" label={t`Sort by`} choices={translated(SORTS)} any={t`Recorded last`} />
        <RowsFilter />
      </FilterBar>
      <Total
        list={list}
        text={(total) => plural(total, { one: '# record', other: '# records' })}
        more={(total) => plural(total, { one: 'More than # record', other: 'More than # records' })}
      />
      <DataTable
        label={t`Transfers`}
        list={list}
        rowKey={(row) => row.id}
        rowLink={(row) => ({
          to: '/$slug/exchanges',
          params: { slug },
          search: { ...search, transfer: String(row.id) },
          resetScroll: false,
        })}
        empty={<Nothing isFiltered={Object.values(filters).some(Boolean)} mayManage={mayManage} slug={slug} />}
        columns={[
          { header: t`What`, cell: (row) => <TransferText transfer={row} /> },
          { header: t`Day`, sort: 'day', narrow: 'line', cell: (row) => <time>{formatDay(row.occurred_on)}</time> },
          { header: t`Hours`, align: 'end', narrow: 'end', cell: (row) => <Struck row={row} /> },
          { header: t`For`, narrow: 'line', cell: (row) => <For row={row} /> },
          { header: t`Note`, narrow: 'line', cell: (row) => <Note row={row} /> },
        ]}
      />
      <Suspense>
        <TransferDrawer />
      </Suspense>
    </>
  )
}

function RecordButton({ slug }: { slug: string }) {
  return (
    <LinkButton to="/$slug/exchanges/record" params={{ slug }}>
      <Trans>Record exchanges</Trans>
    </LinkButton>
  )
}

function Struck({ row }: { row: TransferRecord }) {
  const hours = <Hours value={row.hours} />
  return row.reversal ? <del>{hours}</del> : hours
}

function For({ row: { listing, category } }: { row: TransferRecord }) {
  const name = listing?.title ?? category
  return name && <Name>{name}</Name>
}

/** A transfer and its reversal are one line. */
function Note({ row: { note, reversal } }: { row: TransferRecord }) {
  if (!note && !reversal) return null
  return (
    <Stack gap={4}>
      {note && (
        <span>
          <Name>{note}</Name>
        </span>
      )}
      {reversal && (
        <>
          <span>
            <StatusBadge status="reversed" />
          </span>
          {reversal.reason && (
            <Text inherit c="dimmed">
              <Name>{reversal.reason}</Name>
            </Text>
          )}
        </>
      )}
    </Stack>
  )
}

function Nothing({ isFiltered, mayManage, slug }: { isFiltered: boolean; mayManage: boolean; slug: string }) {
  if (isFiltered)
    return (
      <EmptyState title={t`Nothing fits the filters`}>
        <Trans>Clear them to see all.</Trans>
      </EmptyState>
    )
  return (
    <EmptyState title={t`No exchanges yet`} action={mayManage && <RecordButton slug={slug} />}>
      <Trans>
        When a member has helped another, record it here from their slips: who gave time, who received it, how long.
      </Trans>
    </EmptyState>
  )
}
