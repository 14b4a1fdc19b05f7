import { msg, plural, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { SegmentedControl, Stack, Text, Title } from '@mantine/core'
import { useState } from 'react'
import { formatDate, formatNumber, formatPercent } from '../../language/formats.ts'
import { translated } from '../../language/translate.ts'
import { Chart } from '../../parts/chart.tsx'
import { Panel } from '../../parts/panel.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Stat, StatRow } from '../../parts/stat.tsx'
import { useTimeZone } from '../../parts/time.tsx'
import { useRead } from '../../reading.ts'
import { useCommunityPath } from '../../session.ts'
import type { EndpointPoint, EndpointStatistics } from '../../wire.ts'
import { formatDuration } from '../../parts/duration.ts'
import { Loading } from '../../parts/loading.tsx'

const PERIODS = [
  { value: '24h', label: msg`24 hours` },
  { value: '7d', label: msg`7 days` },
  { value: '30d', label: msg`30 days` },
]

/** How many deliveries arrive, and how fast the receiver answers. */
export function Statistics({ subscriptionId }: { subscriptionId: number }) {
  const path = useCommunityPath()(`/webhooks/${subscriptionId}/statistics`)
  const [period, setPeriod] = useState('24h')
  const { data, isError, error, refetch } = useRead<EndpointStatistics>(path, { period })
  return (
    <Panel
      title={t`Success and speed`}
      description={t`Attempts, by the time of the event that was sent.`}
      actions={
        <SegmentedControl aria-label={t`Period`} data={translated(PERIODS)} value={period} onChange={setPeriod} />
      }
    >
      {isError && <Problem error={error} again={() => void refetch()} />}
      {data ? (
        <Figures data={data} isByHour={period === '24h'} />
      ) : (
        !isError && <Loading label={t`Success and speed`} height={560} />
      )}
    </Panel>
  )
}

function Figures({ data: { points, complete }, isByHour }: { data: EndpointStatistics; isByHour: boolean }) {
  const timeZone = useTimeZone()
  const format = isByHour
    ? ({ hour: '2-digit', minute: '2-digit' } as const)
    : ({ day: 'numeric', month: 'short' } as const)
  const rows = points.map(({ at, succeeded, failed, median_ms, slow_ms }) => ({
    at: formatDate(new Date(at), { ...format, timeZone }),
    succeeded,
    failed,
    median: median_ms ?? 0,
    slow: slow_ms ?? 0,
  }))
  const total = (pick: (point: EndpointPoint) => number) => points.reduce((sum, point) => sum + pick(point), 0)
  const [succeeded, failed] = [total((point) => point.succeeded), total((point) => point.failed)]
  if (succeeded + failed === 0)
    return (
      <Text size="sm">
        <Trans>Nothing was sent in this time.</Trans>
      </Text>
    )
  return (
    <Stack gap="lg">
      {!complete && (
        <Text size="sm" c="dimmed">
          <Trans>Only the newest deliveries are counted.</Trans>
        </Text>
      )}
      <StatRow>
        <Stat label={t`Arrived`} value={formatNumber(succeeded)} hint={attemptsText(succeeded)} />
        <Stat label={t`Failed`} value={formatNumber(failed)} hint={attemptsText(failed)} />
        <Stat label={t`Success rate`} value={formatPercent(succeeded / (succeeded + failed))} />
      </StatRow>
      <Title order={3}>
        <Trans>Attempts</Trans>
      </Title>
      <Chart
        kind="stacked"
        label={t`Attempts that arrived and that failed`}
        data={rows}
        x={{ key: 'at', label: t`From` }}
        series={[
          { key: 'succeeded', label: t`Arrived`, color: 'teal' },
          { key: 'failed', label: t`Failed`, color: 'red' },
        ]}
      />
      <Title order={3}>
        <Trans>Time to respond</Trans>
      </Title>
      <Chart
        kind="line"
        label={t`How long the receiver took`}
        data={rows.filter((_row, index) => points[index]!.median_ms !== null)}
        x={{ key: 'at', label: t`From` }}
        series={[
          { key: 'median', label: t`Half took longer than`, color: 'teal' },
          { key: 'slow', label: t`One in twenty took longer than`, color: 'yellow' },
        ]}
        format={formatDuration}
      />
    </Stack>
  )
}

/** The word below the number. */
function attemptsText(count: number): string {
  return plural(count, { one: 'attempt', other: 'attempts' })
}
