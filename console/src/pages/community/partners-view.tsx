import { Skeleton, Stack, Text, Title } from '@mantine/core'
import { Chart } from '../../parts/chart.tsx'
import { PlainTable } from '../../parts/data-table.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { Panel } from '../../parts/panel.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Stat, StatRow } from '../../parts/stat.tsx'
import { Time } from '../../parts/time.tsx'
import { useRead } from '../../reading.ts'
import { useCommunityPath } from '../../session.ts'
import { figureText, isSuppressed, monthsText } from './figures.ts'
import type { CommunityAggregates, Flow } from '../../wire.ts'

const FLOWS: readonly { name: keyof CommunityAggregates['flows']; label: string }[] = [
  { name: 'exchanges', label: 'Exchanges' },
  { name: 'hours_exchanged', label: 'Hours exchanged' },
  { name: 'hours_credited', label: 'Hours credited by partners' },
  { name: 'trading_members', label: 'Members who traded' },
  { name: 'new_members', label: 'New members' },
]

/** The very figures that partners with access to totals are given. */
export function PartnersView() {
  const { data, isError, error, refetch } = useRead<CommunityAggregates>(useCommunityPath()('/aggregates'))
  if (isError && !data) return <Problem error={error} again={() => void refetch()} />
  if (!data) return <Skeleton height={320} />
  return (
    <Stack gap="lg">
      <Panel title="What partners see of the community as a whole">
        <Text>
          Partners with the permission for totals get exactly these figures, no others. They are ranges, not numbers,
          and a figure with too few people behind it is kept back, so that nobody can be recognised. Months are closed
          ten days after their end, and never change afterwards.
        </Text>
        {data.closed_at && (
          <Text size="sm" c="dimmed">
            Closed up to {monthsText(data.closed_through!, data.closed_through!)}, on{' '}
            <Time value={data.closed_at} as="date" />
          </Text>
        )}
      </Panel>
      {data.closed_through === null ? <NothingClosed /> : <Figures aggregates={data} />}
    </Stack>
  )
}

function NothingClosed() {
  return (
    <Panel>
      <EmptyState title="Nothing is told yet">
        No month of this community is closed. The first figures appear ten days after the end of its first month.
      </EmptyState>
    </Panel>
  )
}

function Figures({ aggregates: { flows, stocks } }: { aggregates: CommunityAggregates }) {
  return (
    <>
      <StatRow>
        <Stat label="Active members" value={figureText(stocks.active_members)} />
        <Stat label="Services offered" value={figureText(stocks.active_services)} />
        <Stat label="Requests" value={figureText(stocks.active_requests)} />
      </StatRow>
      {FLOWS.map(({ name, label }) => (
        <FlowPanel key={name} label={label} flow={flows[name]} />
      ))}
      <Panel title="Listings by category">
        <PlainTable
          label="Listings by category"
          rows={stocks.listings_by_category}
          rowKey={({ category }) => category}
          empty={<EmptyState title="No category is told">In each there is too little, or it is too new.</EmptyState>}
          columns={[
            { header: 'Category', cell: ({ category }) => category },
            { header: 'Active listings', align: 'end', cell: ({ figure }) => figureText(figure) },
          ]}
        />
      </Panel>
    </>
  )
}

function FlowPanel({ label, flow }: { label: string; flow: Flow }) {
  const told = flow.periods.filter(({ figure }) => !isSuppressed(figure))
  const data = told.map(({ from, to, figure }) => ({
    months: monthsText(from, to),
    ...(isSuppressed(figure) ? { min: 0, max: 0 } : { min: figure.min, max: figure.max }),
  }))
  return (
    <Panel title={label} description={`In all: ${figureText(flow.total)}`}>
      {data.length > 1 && (
        <Chart
          kind="line"
          label={`${label}, from at least to at most`}
          data={data}
          x={{ key: 'months', label: 'Months' }}
          series={[
            { key: 'min', label: 'At least' },
            { key: 'max', label: 'At most', color: 'gray' },
          ]}
        />
      )}
      <details>
        <Title order={3} component="summary" size="sm">
          Every period, also what is kept back
        </Title>
        <PlainTable
          label={`${label} by months`}
          rows={flow.periods}
          rowKey={({ from }) => from}
          empty={<EmptyState title="Nothing is told yet" />}
          columns={[
            { header: 'Months', cell: ({ from, to }) => monthsText(from, to) },
            { header: 'Figure', align: 'end', cell: ({ figure }) => figureText(figure) },
          ]}
        />
      </details>
    </Panel>
  )
}
