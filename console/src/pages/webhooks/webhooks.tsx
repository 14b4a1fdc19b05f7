import { msg, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Button, Text } from '@mantine/core'
import { translated } from '../../language/translate.ts'
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
  { value: 'active', label: msg`Active` },
  { value: 'paused', label: msg`Paused` },
  { value: 'disabled', label: msg`Disabled` },
]

const AddEndpointButton = lazyDialog(
  async () => (await import('./add-endpoint.tsx')).AddEndpoint,
  (open) => (
    <Button onClick={open}>
      <Trans>Add webhook</Trans>
    </Button>
  ),
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
        title={t`Webhooks`}
        description={t`Where partners are notified of what happens here, and whether it arrives.`}
        actions={isOwner && <AddEndpointButton />}
      />
      <FilterBar names={['status', 'partner']}>
        <ChoiceFilter name="partner" label={t`Partner`} choices={choices} />
        <ChoiceFilter name="status" label={t`Status`} choices={translated(STATUSES)} />
      </FilterBar>
      <DataTable
        label={t`Webhook subscriptions`}
        list={list}
        rowKey={(row) => row.id}
        rowLink={(row) => ({ to: '/$slug/webhooks/$id', params: { slug, id: String(row.id) } })}
        empty={<NoSubscription isFiltered={Boolean(status ?? partner)} isOwner={isOwner} />}
        columns={[
          { header: t`Partner`, cell: (row) => row.partner.name },
          { header: t`Sent to`, cell: (row) => hostOf(row.target_url) },
          { header: t`Status`, cell: (row) => <StatusBadge status={healthOf(row)} /> },
          { header: t`Waiting`, align: 'end', cell: (row) => countText(row.waiting) },
          {
            header: t`Last arrived`,
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
      <Trans>never</Trans>
    </Text>
  )
}

function NoSubscription({ isFiltered, isOwner }: { isFiltered: boolean; isOwner: boolean }) {
  if (isFiltered)
    return (
      <EmptyState title={t`No subscription fits the filters`}>
        <Trans>Clear them to see all.</Trans>
      </EmptyState>
    )
  return (
    <EmptyState title={t`No webhooks yet`} action={isOwner && <AddEndpointButton />}>
      <Trans>Partners subscribe through the API, or you add one for them.</Trans>
    </EmptyState>
  )
}
