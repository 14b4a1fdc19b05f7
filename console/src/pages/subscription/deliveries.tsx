import { msg, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Text, Title } from '@mantine/core'
import { useSearch } from '@tanstack/react-router'
import { formatNumber } from '../../language/formats.ts'
import { translated } from '../../language/translate.ts'
import { DataTable } from '../../parts/data-table.tsx'
import { endOfDay, startOfDay } from '../../parts/day.ts'
import { EmptyState } from '../../parts/empty-state.tsx'
import { ChoiceFilter, DateFilter, FilterBar, useFilters } from '../../parts/filter-bar.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import { Time, useTimeZone } from '../../parts/time.tsx'
import { useList } from '../../reading.ts'
import { useCommunity, useCommunityPath } from '../../session.ts'
import type { ListedDelivery } from '../../wire.ts'
import { attemptText, deliveryLabel, EVENT_TYPES, eventName, reasonText, waitText } from '../webhooks/words.ts'
import { POLL_INTERVAL_MS } from './poll-interval.ts'

const STATUSES = [
  { value: 'pending', label: msg`Waiting` },
  { value: 'delivered', label: msg`Delivered` },
  { value: 'failed', label: msg`Failed` },
  { value: 'held', label: msg`Held back` },
]
const FILTERS = ['status', 'event', 'from', 'until']

/** What was sent, or is to be. */
export function Deliveries({ subscriptionId }: { subscriptionId: number }) {
  const { slug } = useCommunity()
  const zone = useTimeZone()
  const search = useSearch({ strict: false })
  const [{ status, event, from, until }] = useFilters<Record<string, string | undefined>>()
  const list = useList<ListedDelivery>(
    useCommunityPath()(`/webhooks/${subscriptionId}/deliveries`),
    { status, event_type: event, from: startOfDay(from, zone), until: endOfDay(until, zone) },
    POLL_INTERVAL_MS,
  )
  const events = EVENT_TYPES.map((value) => ({ value, label: eventName(value) }))
  return (
    <section aria-labelledby="deliveries">
      <Title order={2} id="deliveries" mb="md">
        <Trans>Deliveries</Trans>
      </Title>
      <FilterBar names={FILTERS}>
        <ChoiceFilter name="status" label={t`Status`} choices={translated(STATUSES)} />
        <ChoiceFilter name="event" label={t`Event`} choices={events} />
        <DateFilter name="from" label={t`From`} />
        <DateFilter name="until" label={t`Until`} />
      </FilterBar>
      <DataTable
        label={t`Deliveries`}
        list={list}
        rowKey={(row) => row.id}
        rowLink={(row) => ({
          to: '/$slug/webhooks/$id',
          params: { slug, id: String(subscriptionId) },
          search: { ...search, delivery: String(row.id) },
          resetScroll: false,
        })}
        empty={<NoDelivery isFiltered={Boolean(status ?? event ?? from ?? until)} />}
        columns={[
          { header: t`Event`, cell: (row) => eventName(row.event_type) },
          { header: t`When`, cell: (row) => <Time value={row.created_at} /> },
          { header: t`Status`, cell: (row) => <DeliveryStatus delivery={row} /> },
          { header: t`Attempts`, align: 'end', cell: (row) => formatNumber(row.attempts_count) },
          { header: t`Last attempt`, cell: (row) => <LastAttempt delivery={row} /> },
        ]}
      />
    </section>
  )
}

function DeliveryStatus({ delivery: { status, waits_for, next_attempt_at } }: { delivery: ListedDelivery }) {
  const cause = waitText(waits_for)
  return (
    <div>
      <StatusBadge status={status} {...deliveryLabel(status)} />
      {cause && (
        <Text size="sm" c="dimmed">
          {next_attempt_at ? (
            <Trans>
              {cause}; next attempt <Time value={next_attempt_at} as="relative" />
            </Trans>
          ) : (
            cause
          )}
        </Text>
      )}
    </div>
  )
}

function LastAttempt({ delivery: { last_attempt, held_reason } }: { delivery: ListedDelivery }) {
  if (held_reason) return reasonText(held_reason)
  if (!last_attempt)
    return (
      <Text component="span" inherit c="dimmed">
        <Trans>none yet</Trans>
      </Text>
    )
  return attemptText(last_attempt)
}

function NoDelivery({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered)
    return (
      <EmptyState title={t`No delivery fits the filters`}>
        <Trans>Clear them to see all.</Trans>
      </EmptyState>
    )
  return (
    <EmptyState title={t`Nothing was sent yet`}>
      <Trans>
        As soon as something happens that this webhook asks for, it is sent and shown here. A test event shows whether
        the receiver can be reached.
      </Trans>
    </EmptyState>
  )
}
