import { t } from '@lingui/core/macro'
import { formatDate } from '../../language/formats.ts'
import { Chart } from '../../parts/chart.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Panel } from '../../parts/panel.tsx'
import { Problem } from '../../parts/problem.tsx'
import { useTimeZone } from '../../parts/time.tsx'
import { useRead } from '../../reading.ts'
import { useCommunityPath } from '../../session.ts'
import type { CallPoint } from '../../wire.ts'
import { usePeriod } from './period.ts'
import type { CallFilters } from './search.ts'

const HOURS_24_MS = 24 * 60 * 60 * 1_000

/** Calls over time, with errors by kind. The last day unless a period is chosen. */
export function CallChart({ filters }: { filters: CallFilters }) {
  const path = useCommunityPath()
  const zone = useTimeZone()
  const period = usePeriod(filters)
  const query = { partner_id: filters.partner, ...period }
  const { data, isError, error, refetch } = useRead<CallPoint[]>(path('/calls/chart'), query)
  return (
    <Panel title={t`Calls over time`}>
      {isError && <Problem error={error} again={() => void refetch()} />}
      {data ? (
        <Chart
          kind="stacked"
          label={t`Calls, by how they were answered`}
          data={data.map(({ at, ...figures }) => ({ at: slotName(at, data, zone), ...figures }))}
          x={{ key: 'at', label: t`From` }}
          series={[
            { key: 'answered', label: t`Answered`, color: 'teal' },
            { key: 'unauthenticated', label: t`Not authenticated (401)`, color: 'gray' },
            { key: 'forbidden', label: t`Not allowed (403)`, color: 'blue' },
            { key: 'limited', label: t`Too many (429)`, color: 'yellow' },
            { key: 'rejected', label: t`Rejected (other 4xx)`, color: 'grape' },
            { key: 'failed', label: t`Failed (5xx)`, color: 'red' },
          ]}
        />
      ) : (
        !isError && <Loading label={t`Calls over time`} height={300} />
      )}
    </Panel>
  )
}

/** The day for steps of a day; the time for shorter ones, with the day where there are several. */
function slotName(at: string, points: readonly CallPoint[], timeZone: string): string {
  const first = Date.parse(points[0]!.at)
  const stepMs = Date.parse(points[1]?.at ?? '') - first
  const spanMs = Date.parse(points.at(-1)!.at) - first
  const day = { day: 'numeric', month: 'short' } as const
  const time = { hour: '2-digit', minute: '2-digit' } as const
  // A day has 23 hours when the clocks are set forward.
  const isDays = stepMs > HOURS_24_MS / 2
  const parts = isDays ? day : spanMs > HOURS_24_MS ? { ...day, ...time } : time
  return formatDate(new Date(at), { ...parts, timeZone })
}
