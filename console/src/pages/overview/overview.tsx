import { plural, t } from '@lingui/core/macro'
import { Stack } from '@mantine/core'
import { formatDate, formatNumber } from '../../language/formats.ts'
import { Chart } from '../../parts/chart.tsx'
import { formatHours } from '../../parts/hours.tsx'
import { Loading } from '../../parts/loading.tsx'
import { PageHeader } from '../../parts/page-header.tsx'
import { Panel } from '../../parts/panel.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Stat, StatRow } from '../../parts/stat.tsx'
import { useRead } from '../../reading.ts'
import { useCommunityPath } from '../../session.ts'
import { Attention } from './attention.tsx'
import { FirstSteps } from './first-steps.tsx'
import { PartnerCalls } from './partner-calls.tsx'
import { RestoreReview } from './restore-review.tsx'
import type { CommunityOverview, MonthFigures } from '../../wire.ts'
import { WebhookHealth } from './webhook-health.tsx'

const MONTH = { month: 'short', year: 'numeric', timeZone: 'UTC' } as const

export function Overview() {
  const path = useCommunityPath()
  const overview = useRead<CommunityOverview>(path('/overview'))
  return (
    <>
      <PageHeader title={t`Overview`} description={t`How the community and its partners are doing.`} />
      {overview.isPending && <Loading label={t`Overview`} height={[96, 420, 360, 160]} />}
      {overview.isError && <Problem error={overview.error} again={() => void overview.refetch()} />}
      {overview.data && <Figures data={overview.data} />}
    </>
  )
}

function Figures({ data }: { data: CommunityOverview }) {
  const present = data.months.at(-1)!
  const year = sum(data.months)
  return (
    <Stack gap="lg">
      {data.review && <RestoreReview review={data.review} />}
      {!data.first_steps.has_credit && <FirstSteps steps={data.first_steps} />}
      <Attention items={data.attention} />
      <StatRow>
        <Stat label={t`Active members`} value={formatNumber(data.active_members)} />
        <Stat
          label={t`Exchanged this month`}
          value={formatHours(present.hours_exchanged)}
          hint={exchangesText(present.exchanges)}
        />
        <Stat label={t`Credited this month`} value={formatHours(present.hours_credited)} hint={t`by partners`} />
        <Stat
          label={t`Exchanged in twelve months`}
          value={formatHours(year.hours_exchanged)}
          hint={exchangesText(year.exchanges)}
        />
      </StatRow>
      <Panel
        title={t`Hours per month`}
        description={t`By the month in which they were recorded. A reversal is subtracted in the month in which it was made.`}
      >
        <Chart
          kind="bar"
          label={t`Hours exchanged between members and credited by partners, per month`}
          data={data.months.map((month) => ({
            month: formatDate(new Date(`${month.month}-01T00:00:00Z`), MONTH),
            exchanged: month.hours_exchanged,
            credited: month.hours_credited,
          }))}
          x={{ key: 'month', label: t`Month` }}
          series={[
            { key: 'exchanged', label: t`Exchanged`, color: 'teal' },
            { key: 'credited', label: t`Credited`, color: 'yellow' },
          ]}
          format={formatHours}
        />
      </Panel>
      <PartnerCalls partners={data.partners} count={data.partner_count} days={data.call_days} />
      <WebhookHealth webhooks={data.webhooks} />
    </Stack>
  )
}

function exchangesText(exchanges: number): string {
  return plural(exchanges, { one: '# exchange', other: '# exchanges' })
}

/** In hundredths, which are whole: 0.1 + 0.2 would show. */
function sum(months: MonthFigures[]): Omit<MonthFigures, 'month'> {
  const total = (pick: (month: MonthFigures) => number) =>
    months.reduce((all, it) => all + Math.round(pick(it) * 100), 0) / 100
  return {
    exchanges: total((it) => it.exchanges),
    hours_exchanged: total((it) => it.hours_exchanged),
    hours_credited: total((it) => it.hours_credited),
  }
}
