import { Button, Text } from '@mantine/core'
import { DataTable } from '../../parts/data-table.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { ChoiceFilter, FilterBar, useFilters } from '../../parts/filter-bar.tsx'
import { lazyDialog } from '../../parts/lazy-dialog.tsx'
import { PageHeader } from '../../parts/page-header.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import { Time } from '../../parts/time.tsx'
import { useList, useRead } from '../../reading.ts'
import { useCommunity, useCommunityPath, useRole } from '../../session.ts'
import type { SubscriptionOverview } from '../../wire.ts'
import { countText, healthOf, hostOf } from './words.ts'

const PARTNERS_MAX = 100
const STATUSES = [
  { value: 'active', label: 'Active' },
  { value: 'paused', label: 'Paused' },
  { value: 'disabled', label: 'Disabled' },
]

const AddEndpointButton = lazyDialog(
  async () => (await import('./add-endpoint.tsx')).AddEndpoint,
  (open) => <Button onClick={open}>Add webhook …</Button>,
)

export function Webhooks() {
  const { slug } = useCommunity()
  const path = useCommunityPath()
  const { isOwner } = useRole()
  const [{ status, partner }] = useFilters<{ status?: string; partner?: string }>()
  const list = useList<SubscriptionOverview>(path('/webhooks'), { status, partner_id: partner })
  const partners = useRead<{ id: number; name: string }[]>(path('/partners'), { limit: PARTNERS_MAX })
  const choices = (partners.data ?? []).map(({ id, name }) => ({ value: String(id), label: name }))
  return (
    <>
      <PageHeader
        title="Webhooks"
        description="Where partners are told what happens here, and whether it arrives. Partners subscribe themselves, through the API, or you do it for them."
        actions={isOwner && <AddEndpointButton />}
      />
      <FilterBar names={['status', 'partner']}>
        <ChoiceFilter name="partner" label="Partner" choices={choices} />
        <ChoiceFilter name="status" label="Status" choices={STATUSES} />
      </FilterBar>
      <DataTable
        label="Webhook subscriptions"
        list={list}
        rowKey={(row) => row.id}
        rowLink={(row) => ({ to: '/$slug/webhooks/$id', params: { slug, id: String(row.id) } })}
        empty={<NoSubscription isFiltered={Boolean(status ?? partner)} />}
        columns={[
          { header: 'Partner', cell: (row) => row.partner.name },
          { header: 'Sent to', cell: (row) => hostOf(row.target_url) },
          { header: 'Status', cell: (row) => <StatusBadge status={healthOf(row)} /> },
          { header: 'Waiting', align: 'end', cell: (row) => countText(row.waiting) },
          {
            header: 'Last arrived',
            cell: ({ last_success_at: at }) => (at ? <Time value={at} as="relative" /> : <Never />),
          },
        ]}
      />
    </>
  )
}

function Never() {
  return (
    <Text component="span" inherit c="dimmed">
      never
    </Text>
  )
}

function NoSubscription({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) return <EmptyState title="No subscription fits the filters">Clear them to see all.</EmptyState>
  return (
    <EmptyState title="No partner has subscribed yet">
      A partner’s developers subscribe through the API. What is sent to them, and whether it arrives, is shown here.
    </EmptyState>
  )
}
