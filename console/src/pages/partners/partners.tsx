import { msg, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Button, Stack } from '@mantine/core'
import { Suspense } from 'react'
import { translated } from '../../language/translate.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { ChoiceFilter, FilterBar, SearchFilter, useFilters } from '../../parts/filter-bar.tsx'
import { formatHours } from '../../parts/hours.tsx'
import { lazyDialog, lazyPart } from '../../parts/lazy-dialog.tsx'
import { Loading } from '../../parts/loading.tsx'
import { PageHeader } from '../../parts/page-header.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import { Time } from '../../parts/time.tsx'
import { useList } from '../../reading.ts'
import { useCommunity, useCommunityPath, useRole } from '../../session.ts'
import type { PartnerOverview } from '../../wire.ts'

const AddPartner = lazyDialog(
  async () => (await import('./add-partner.tsx')).AddPartner,
  (open) => (
    <Button onClick={open}>
      <Trans>Add partner</Trans>
    </Button>
  ),
)

const PartnerApiSwitch = lazyPart(async () => (await import('./partner-api-switch.tsx')).PartnerApiSwitch)
const TestCommunities = lazyPart(async () => (await import('./test-communities.tsx')).TestCommunities)

const FILTERS = ['q', 'status']
const STATUSES = [
  { value: 'active', label: msg`Active` },
  { value: 'suspended', label: msg`Suspended` },
]

const columns = (): Column<PartnerOverview>[] => [
  { header: t`Name`, cell: ({ name }) => name },
  { header: t`Status`, cell: ({ status }) => <StatusBadge status={status} /> },
  { header: t`Hours credited today`, cell: (row) => <HoursToday partner={row} /> },
  {
    header: t`Last call`,
    cell: ({ last_used_at }) => (last_used_at ? <Time value={last_used_at} as="relative" /> : t`never`),
  },
]

function HoursToday({ partner }: { partner: PartnerOverview }) {
  const [used, allowed] = [formatHours(partner.hours_used_today), formatHours(partner.hours_per_day)]
  const text = t`${used} of ${allowed}`
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
        title={t`Partners`}
        description={t`Organisations whose systems may read from this community or credit hours to its members: a bank, a town hall, a care network.`}
        actions={isOwner && <AddPartner />}
      />
      <FilterBar names={FILTERS}>
        <SearchFilter label={t`Search by name`} />
        <ChoiceFilter name="status" label={t`Status`} choices={translated(STATUSES)} />
      </FilterBar>
      <DataTable
        label={t`Partners`}
        list={list}
        columns={columns()}
        rowKey={({ id }) => id}
        rowLink={({ id }) => ({ to: '/$slug/partners/$id', params: { slug, id: String(id) } })}
        empty={isFiltered ? <NothingFound /> : <NoPartner isOwner={isOwner} />}
      />
      <Stack mt="xl" gap="lg">
        <Suspense fallback={<Loading label={t`Access for all partners`} height={[160, 136]} />}>
          {isOwner && !test && <TestCommunities />}
          <PartnerApiSwitch />
        </Suspense>
      </Stack>
    </>
  )
}

function NothingFound() {
  return (
    <EmptyState title={t`No partner matches`}>
      <Trans>Remove a filter to see the others.</Trans>
    </EmptyState>
  )
}

function NoPartner({ isOwner }: { isOwner: boolean }) {
  return (
    <EmptyState title={t`No partners yet`} action={isOwner && <AddPartner />}>
      {isOwner
        ? t`Add one to get a client id and a secret, which the partner’s developers need.`
        : t`An owner of this community can add one.`}
    </EmptyState>
  )
}
