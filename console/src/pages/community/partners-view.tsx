import type { MessageDescriptor } from '@lingui/core'
import { msg, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Stack, Text, Title } from '@mantine/core'
import { translate } from '../../language/translate.ts'
import { Chart } from '../../parts/chart.tsx'
import { PlainTable } from '../../parts/data-table.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { formatHours } from '../../parts/hours.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Panel } from '../../parts/panel.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Stat, StatRow } from '../../parts/stat.tsx'
import { Time } from '../../parts/time.tsx'
import { useRead } from '../../reading.ts'
import { useCommunityPath } from '../../session.ts'
import { figureText, isSuppressed, monthsText } from './figures.ts'
import type { CommunityAggregates, Flow } from '../../wire.ts'

interface FlowKind {
  name: keyof CommunityAggregates['flows']
  label: MessageDescriptor
  /** Hours, not a number of something. */
  isHours?: true
  /** The same people count in every month, so their sum means nothing. */
  isRecurring?: true
}

const FLOWS: readonly FlowKind[] = [
  { name: 'exchanges', label: msg`Exchanges` },
  { name: 'hours_exchanged', label: msg`Hours exchanged`, isHours: true },
  { name: 'hours_credited', label: msg`Hours credited by partners`, isHours: true },
  { name: 'trading_members', label: msg`Members who exchanged`, isRecurring: true },
  { name: 'new_members', label: msg`New members` },
]

/** The very figures that partners with access to totals are given. */
export function PartnersView() {
  const { data, isError, error, refetch } = useRead<CommunityAggregates>(useCommunityPath()('/aggregates'))
  if (isError && !data) return <Problem error={error} again={() => void refetch()} />
  if (!data) return <Loading label={t`What partners see`} height={[200, 96, 420, 420]} />
  const month = data.closed_through && monthsText(data.closed_through, data.closed_through)
  return (
    <Stack gap="lg">
      <Panel title={t`What partners see of the community as a whole`}>
        <Text>
          <Trans>
            Partners with the permission for totals get exactly these figures, no others. They are ranges, not numbers,
            and a figure with too few people behind it is kept back, so that nobody can be recognised. Months are closed
            ten days after their end, and never change afterwards.
          </Trans>
        </Text>
        {data.closed_at && (
          <Text size="sm" c="dimmed">
            <Trans>
              Closed up to {month}, on <Time value={data.closed_at} as="date" />
            </Trans>
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
      <EmptyState title={t`Nothing is shown yet`}>
        <Trans>
          No month of this community is closed. The first figures appear ten days after the end of its first month.
        </Trans>
      </EmptyState>
    </Panel>
  )
}

function Figures({ aggregates: { flows, stocks } }: { aggregates: CommunityAggregates }) {
  return (
    <>
      <StatRow>
        <Stat label={t`Active members`} value={figureText(stocks.active_members)} />
        <Stat label={t`Services offered`} value={figureText(stocks.active_services)} />
        <Stat label={t`Requests`} value={figureText(stocks.active_requests)} />
      </StatRow>
      {FLOWS.map(({ name, ...kind }) => (
        <FlowPanel key={name} {...kind} flow={flows[name]} />
      ))}
      <Panel title={t`Listings by category`}>
        <PlainTable
          label={t`Listings by category`}
          rows={stocks.listings_by_category}
          rowKey={({ category }) => category}
          empty={
            <EmptyState title={t`No category is shown`}>
              <Trans>Each has too few listings, or is too new.</Trans>
            </EmptyState>
          }
          columns={[
            { header: t`Category`, cell: ({ category }) => category },
            { header: t`Active listings`, align: 'end', cell: ({ figure }) => figureText(figure) },
          ]}
        />
      </Panel>
    </>
  )
}

function FlowPanel({ label: name, flow, isHours, isRecurring }: Omit<FlowKind, 'name'> & { flow: Flow }) {
  const label = translate(name)
  const told = flow.periods.filter(({ figure }) => !isSuppressed(figure))
  const data = told.map(({ from, to, figure }) => ({
    months: monthsText(from, to),
    ...(isSuppressed(figure) ? { min: 0, max: 0 } : { min: figure.min, max: figure.max }),
  }))
  const total = figureText(flow.total)
  return (
    <Panel title={label} description={isRecurring ? undefined : t`In total: ${total}`}>
      {data.length > 1 && (
        <Chart
          kind="line"
          label={t`${label}, from at least to at most`}
          data={data}
          x={{ key: 'months', label: t`Months` }}
          series={[
            { key: 'min', label: t`At least` },
            { key: 'max', label: t`At most`, color: 'gray' },
          ]}
          {...(isHours && { format: (hours: number) => formatHours(hours) })}
        />
      )}
      <details>
        <Title order={3} component="summary" size="sm">
          <Trans>All periods, with those kept back</Trans>
        </Title>
        <PlainTable
          label={t`${label} by months`}
          rows={flow.periods}
          rowKey={({ from }) => from}
          empty={<EmptyState title={t`Nothing is shown yet`} />}
          columns={[
            { header: t`Months`, cell: ({ from, to }) => monthsText(from, to) },
            { header: t`Figure`, align: 'end', cell: ({ figure }) => figureText(figure) },
          ]}
        />
      </details>
    </Panel>
  )
}
