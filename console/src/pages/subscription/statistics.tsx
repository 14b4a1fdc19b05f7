import { SegmentedControl, Skeleton, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { Chart } from '../../parts/chart.tsx'
import { Panel } from '../../parts/panel.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Stat, StatRow } from '../../parts/stat.tsx'
import { useTimeZone } from '../../parts/time.tsx'
import { useRead } from '../../reading.ts'
import { useCommunityPath } from '../../session.ts'
import type { EndpointPoint, EndpointStatistics } from '../../wire.ts'
import { formatDuration } from '../calls/words.ts'

const PERIODS = [
  { value: '24h', label: '24 hours' },
  { value: '7d', label: '7 days' },
  { value: '30d', label: '30 days' },
]
const percent = new Intl.NumberFormat('en-GB', { style: 'percent', maximumFractionDigits: 1 })
const count = new Intl.NumberFormat('en-GB')

/** How often it arrives, and how fast the receiver answers. */
export function Statistics({ subscriptionId }: { subscriptionId: number }) {
  const path = useCommunityPath()(`/webhooks/${subscriptionId}/statistics`)
  const [period, setPeriod] = useState('24h')
  const { data, isError, error, refetch } = useRead<EndpointStatistics>(path, { period })
  return (
    <Panel
      title="Success and speed"
      description="Attempts, by the time of the event that was sent."
      actions={<SegmentedControl aria-label="Period" data={PERIODS} value={period} onChange={setPeriod} />}
    >
      {isError && <Problem error={error} again={() => void refetch()} />}
      {data ? <Figures data={data} isByHour={period === '24h'} /> : !isError && <Skeleton height={320} />}
    </Panel>
  )
}

function Figures({ data: { points, complete }, isByHour }: { data: EndpointStatistics; isByHour: boolean }) {
  const timeZone = useTimeZone()
  const format = isByHour
    ? ({ hour: '2-digit', minute: '2-digit' } as const)
    : ({ day: 'numeric', month: 'short' } as const)
  const name = new Intl.DateTimeFormat('en-GB', { ...format, timeZone })
  const rows = points.map(({ at, succeeded, failed, median_ms, slow_ms }) => ({
    at: name.format(new Date(at)),
    succeeded,
    failed,
    median: median_ms ?? 0,
    slow: slow_ms ?? 0,
  }))
  const total = (pick: (point: EndpointPoint) => number) => points.reduce((sum, point) => sum + pick(point), 0)
  const [succeeded, failed] = [total((point) => point.succeeded), total((point) => point.failed)]
  if (succeeded + failed === 0) return <Text size="sm">Nothing was sent in this time.</Text>
  return (
    <Stack gap="lg">
      {!complete && (
        <Text size="sm" c="dimmed">
          Only the newest deliveries are counted.
        </Text>
      )}
      <StatRow>
        <Stat label="Arrived at the first or a later attempt" value={count.format(succeeded)} hint="attempts" />
        <Stat label="Failed" value={count.format(failed)} hint="attempts" />
        <Stat label="Success rate" value={percent.format(succeeded / (succeeded + failed))} />
      </StatRow>
      <Chart
        kind="stacked"
        label="Attempts that arrived and that failed"
        data={rows}
        x={{ key: 'at', label: 'From' }}
        series={[
          { key: 'succeeded', label: 'Arrived', color: 'teal' },
          { key: 'failed', label: 'Failed', color: 'red' },
        ]}
        format={(value) => count.format(value)}
      />
      <Chart
        kind="line"
        label="How long the receiver took"
        data={rows.filter((_row, index) => points[index]!.median_ms !== null)}
        x={{ key: 'at', label: 'From' }}
        series={[
          { key: 'median', label: 'Half took longer than', color: 'teal' },
          { key: 'slow', label: 'One in twenty took longer than', color: 'yellow' },
        ]}
        format={formatDuration}
      />
    </Stack>
  )
}
