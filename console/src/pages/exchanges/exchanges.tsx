import { Button, Stack, Text, TextInput } from '@mantine/core'
import { useSearch } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { CsvDownload } from '../../parts/csv-download.tsx'
import { DataTable } from '../../parts/data-table.tsx'
import { formatDay } from '../../parts/day.ts'
import { EmptyState } from '../../parts/empty-state.tsx'
import { ChoiceFilter, DateFilter, FilterBar, useFilters } from '../../parts/filter-bar.tsx'
import { Hours } from '../../parts/hours.tsx'
import { lazyDialog } from '../../parts/lazy-dialog.tsx'
import { LinkButton } from '../../parts/links.tsx'
import { PageHeader } from '../../parts/page-header.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import { useList } from '../../reading.ts'
import { useCommunity, useCommunityPath, useRole } from '../../session.ts'
import type { TransferRecord } from '../../wire.ts'
import { KIND_NAMES, transferText } from './words.ts'

const FILTERS = ['member', 'kind', 'status', 'from', 'until']
const KINDS = Object.entries(KIND_NAMES).map(([value, label]) => ({ value, label }))
const STATUSES = [
  { value: 'standing', label: 'Standing' },
  { value: 'reversed', label: 'Taken back' },
]

const AdjustBalance = lazyDialog(
  async () => (await import('./adjust-balance.tsx')).AdjustBalance,
  (open) => (
    <Button variant="default" onClick={open}>
      Adjust a balance
    </Button>
  ),
)
/** Its list of members is the largest script of the page, and the table does not have to wait for it. */
const MemberFilter = lazy(async () => ({ default: (await import('./member-filter.tsx')).MemberFilter }))
const TransferDrawer = lazy(async () => ({ default: (await import('./transfer-drawer.tsx')).TransferDrawer }))

export function Exchanges() {
  const { slug } = useCommunity()
  const { mayManage } = useRole()
  const path = useCommunityPath()
  const search = useSearch({ strict: false })
  const [{ member, kind, status, from, until }] = useFilters<Record<string, string | undefined>>()
  const filters = { member_id: member, kind, status, from, until }
  const list = useList<TransferRecord>(path('/transfers'), filters)
  return (
    <>
      <PageHeader
        title="Exchanges"
        description="Everything that moved hours between wallets. Nothing is ever deleted: a mistake is taken back, and both stay visible as one record."
        actions={
          <>
            <CsvDownload path={path('/transfers/export')} />
            {mayManage && <AdjustBalance />}
            {mayManage && <RecordButton slug={slug} />}
          </>
        }
      />
      <FilterBar names={FILTERS}>
        <Suspense fallback={<TextInput label="Member" disabled />}>
          <MemberFilter />
        </Suspense>
        <ChoiceFilter name="kind" label="Kind" choices={KINDS} />
        <ChoiceFilter name="status" label="Status" choices={STATUSES} />
        <DateFilter name="from" label="From" />
        <DateFilter name="until" label="Until" />
      </FilterBar>
      <DataTable
        label="Transfers"
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
          { header: 'What', cell: (row) => transferText(row) },
          { header: 'Day', cell: (row) => formatDay(row.occurred_on) },
          { header: 'Hours', align: 'end', cell: (row) => <Struck row={row} /> },
          { header: 'Note', cell: (row) => <Note row={row} /> },
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
      Record exchanges
    </LinkButton>
  )
}

function Struck({ row }: { row: TransferRecord }) {
  const hours = <Hours value={row.hours} />
  return row.reversal ? <del>{hours}</del> : hours
}

/** A transfer and what took it back are one line. */
function Note({ row: { note, reversal } }: { row: TransferRecord }) {
  if (!note && !reversal) return null
  return (
    <Stack gap={4}>
      {note && <span>{note}</span>}
      {reversal && (
        <>
          <span>
            <StatusBadge status="reversed" label="Taken back" />
          </span>
          {reversal.reason && (
            <Text size="sm" c="dimmed">
              {reversal.reason}
            </Text>
          )}
        </>
      )}
    </Stack>
  )
}

function Nothing({ isFiltered, mayManage, slug }: { isFiltered: boolean; mayManage: boolean; slug: string }) {
  if (isFiltered) return <EmptyState title="Nothing fits the filters">Clear them to see all.</EmptyState>
  return (
    <EmptyState title="No exchange yet" action={mayManage && <RecordButton slug={slug} />}>
      When a member has helped another, record it here from their slips: who gave time, who received it, how long.
    </EmptyState>
  )
}
