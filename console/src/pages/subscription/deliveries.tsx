import { Text, Title } from '@mantine/core'
import { useSearch } from '@tanstack/react-router'
import { DataTable } from '../../parts/data-table.tsx'
import { endOfDay, startOfDay } from '../../parts/day.ts'
import { EmptyState } from '../../parts/empty-state.tsx'
import { ChoiceFilter, DateFilter, FilterBar, useFilters } from '../../parts/filter-bar.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import { Time, useTimeZone } from '../../parts/time.tsx'
import { useList } from '../../reading.ts'
import { useCommunity, useCommunityPath } from '../../session.ts'
import type { ListedDelivery } from '../../wire.ts'
import { attemptText, deliveryLabel, EVENT_NAMES, waitText } from '../webhooks/words.ts'
import { LOOK_AGAIN_MS } from './look-again.ts'

const STATUSES = [
  { value: 'pending', label: 'Waiting' },
  { value: 'delivered', label: 'Delivered' },
  { value: 'failed', label: 'Failed' },
  { value: 'held', label: 'Held back' },
]
const EVENTS = Object.entries(EVENT_NAMES).map(([value, label]) => ({ value, label }))
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
    LOOK_AGAIN_MS,
  )
  return (
    <section aria-labelledby="deliveries">
      <Title order={2} id="deliveries" mb="md">
        Deliveries
      </Title>
      <FilterBar names={FILTERS}>
        <ChoiceFilter name="status" label="Status" choices={STATUSES} />
        <ChoiceFilter name="event" label="Event" choices={EVENTS} />
        <DateFilter name="from" label="From" />
        <DateFilter name="until" label="Until" />
      </FilterBar>
      <DataTable
        label="Deliveries"
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
          { header: 'Event', cell: (row) => EVENT_NAMES[row.event_type] ?? row.event_type },
          { header: 'When', cell: (row) => <Time value={row.created_at} /> },
          { header: 'Status', cell: (row) => <DeliveryStatus delivery={row} /> },
          { header: 'Attempts', align: 'end', cell: (row) => row.attempts_count },
          { header: 'Last attempt', cell: (row) => <LastAttempt delivery={row} /> },
        ]}
      />
    </section>
  )
}

function DeliveryStatus({ delivery: { status, waits_for, next_attempt_at } }: { delivery: ListedDelivery }) {
  return (
    <div>
      <StatusBadge status={status} {...deliveryLabel(status)} />
      {waits_for && (
        <Text size="sm" c="dimmed">
          {waitText(waits_for)}
          {next_attempt_at && (
            <>
              ; next attempt <Time value={next_attempt_at} as="relative" />
            </>
          )}
        </Text>
      )}
    </div>
  )
}

function LastAttempt({ delivery: { last_attempt, held_reason } }: { delivery: ListedDelivery }) {
  if (held_reason) return held_reason
  if (!last_attempt)
    return (
      <Text component="span" inherit c="dimmed">
        none yet
      </Text>
    )
  return attemptText(last_attempt)
}

function NoDelivery({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) return <EmptyState title="No delivery fits the filters">Clear them to see all.</EmptyState>
  return (
    <EmptyState title="Nothing was sent yet">
      As soon as something happens that this webhook asks for, it is sent and shown here. A test event shows whether the
      receiver can be reached.
    </EmptyState>
  )
}
