import { Button, Stack } from '@mantine/core'
import { Suspense } from 'react'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { ChoiceFilter, FilterBar, SearchFilter, useFilters } from '../../parts/filter-bar.tsx'
import { formatHours } from '../../parts/hours.tsx'
import { lazyDialog, lazyPart } from '../../parts/lazy-dialog.tsx'
import { PageHeader } from '../../parts/page-header.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import { Time } from '../../parts/time.tsx'
import { useList } from '../../reading.ts'
import { useCommunity, useCommunityPath, useRole } from '../../session.ts'
import type { PartnerOverview } from '../../wire.ts'

const AddPartner = lazyDialog(
  async () => (await import('./add-partner.tsx')).AddPartner,
  (open) => <Button onClick={open}>Add partner</Button>,
)

const PartnerApiSwitch = lazyPart(async () => (await import('./partner-api-switch.tsx')).PartnerApiSwitch)
const TestCommunities = lazyPart(async () => (await import('./test-communities.tsx')).TestCommunities)

const FILTERS = ['q', 'status']
const STATUSES = [
  { value: 'active', label: 'Active' },
  { value: 'suspended', label: 'Suspended' },
]

const COLUMNS: Column<PartnerOverview>[] = [
  { header: 'Name', cell: ({ name }) => name },
  { header: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
  { header: 'Hours credited today', cell: (row) => <HoursToday partner={row} /> },
  {
    header: 'Last call',
    cell: ({ last_used_at }) => (last_used_at ? <Time value={last_used_at} as="relative" /> : 'never'),
  },
]

function HoursToday({ partner }: { partner: PartnerOverview }) {
  const text = `${formatHours(partner.hours_used_today)} of ${formatHours(partner.hours_per_day)}`
  if (!partner.hours_nearly_used) return text
  return <StatusBadge status="nearly_used" label={text} look={['yellow', 'warning']} />
}

export function Partners() {
  const { slug, test } = useCommunity()
  const path = useCommunityPath()
  const { isOwner } = useRole()
  const [filters] = useFilters<{ q?: string; status?: string }>()
  const list = useList<PartnerOverview>(path('/partners'), filters)
  const isFiltered = Boolean(filters.q ?? filters.status)
  return (
    <>
      <PageHeader
        title="Partners"
        description="Organisations whose systems may read from this community or credit hours to its members: a bank, a town hall, a care network."
        actions={isOwner && <AddPartner />}
      />
      <FilterBar names={FILTERS}>
        <SearchFilter label="Search by name" />
        <ChoiceFilter name="status" label="Status" choices={STATUSES} />
      </FilterBar>
      <DataTable
        label="Partners"
        list={list}
        columns={COLUMNS}
        rowKey={({ id }) => id}
        rowLink={({ id }) => ({ to: '/$slug/partners/$id', params: { slug, id: String(id) } })}
        empty={isFiltered ? <NothingFound /> : <NoPartner isOwner={isOwner} />}
      />
      <Stack mt="xl" gap="lg">
        <Suspense>
          {isOwner && !test && <TestCommunities />}
          <PartnerApiSwitch />
        </Suspense>
      </Stack>
    </>
  )
}

function NothingFound() {
  return <EmptyState title="No partner matches">Take a filter away to see the others.</EmptyState>
}

function NoPartner({ isOwner }: { isOwner: boolean }) {
  return (
    <EmptyState title="No partner yet">
      {isOwner
        ? 'Add one to get a client id and a secret, which the partner’s developers need.'
        : 'An owner of this community can add one.'}
    </EmptyState>
  )
}
