import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Code, Text } from '@mantine/core'
import { formatNumber } from '../../language/formats.ts'
import { type Column, PlainTable } from '../../parts/data-table.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { Loading } from '../../parts/loading.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Time } from '../../parts/time.tsx'
import { useRead } from '../../reading.ts'
import { useCommunity, useCommunityPath } from '../../session.ts'
import { PeriodFilterBar } from './call-filters.tsx'
import { CallStatus } from './call-status.tsx'
import classes from './error-groups.module.css'
import { usePeriod } from './period.ts'
import type { CallFilters } from './search.ts'
import type { ErrorGroup } from '../../wire.ts'
import { errorWords, shortPath } from './words.ts'

/** What goes wrong most often, and what it means. */
export function ErrorGroups({ filters }: { filters: CallFilters }) {
  const path = useCommunityPath()
  const period = usePeriod(filters)
  const query = { partner_id: filters.partner, ...period }
  const { data: groups, isError, error, refetch } = useRead<ErrorGroup[]>(path('/calls/errors'), query)
  return (
    <>
      <PeriodFilterBar />
      {isError && <Problem error={error} again={() => void refetch()} />}
      {groups ? (
        <GroupTable groups={groups} filters={filters} />
      ) : (
        !isError && <Loading label={t`Errors by kind`} height={320} />
      )}
    </>
  )
}

function GroupTable({ groups, filters }: { groups: ErrorGroup[]; filters: CallFilters }) {
  const { slug } = useCommunity()
  const { period, since, until } = filters
  const most = Math.max(1, ...groups.map((group) => group.count))
  const columns: Column<ErrorGroup>[] = [
    { header: t`What went wrong`, cell: ({ error }) => errorWords(error) ?? t`The call was refused.` },
    { header: t`Where`, cell: (group) => <Where group={group} /> },
    { header: t`Partner`, cell: ({ partner_name }) => partner_name ?? t`unknown` },
    { header: t`Answer`, cell: ({ status }) => <CallStatus status={status} /> },
    { header: t`Count`, cell: (group) => <Bar value={group.count} most={most} /> },
    { header: t`Last`, cell: ({ last_at }) => <Time value={last_at} as="relative" /> },
  ]
  return (
    <PlainTable
      label={t`Errors by kind`}
      columns={columns}
      rows={groups}
      rowKey={(group) => JSON.stringify([group.status, group.error, group.method, group.route, group.partner_id])}
      rowLink={({ error, status, method, partner_id }) => ({
        to: '/$slug/calls',
        params: { slug },
        search: {
          ...(error ? { error } : {}),
          ...(partner_id === null ? {} : { partner: String(partner_id) }),
          ...(period ? { period } : {}),
          ...(since ? { since } : {}),
          ...(until ? { until } : {}),
          status: String(status),
          method,
        },
      })}
      empty={
        <EmptyState title={t`No errors`}>
          <Trans>No call failed in this time.</Trans>
        </EmptyState>
      }
    />
  )
}

/** One element: as a card, the cell lays out its children side by side. */
function Where({ group: { method, route, error } }: { group: ErrorGroup }) {
  return (
    <div>
      <Code>
        {method} {route ? shortPath(route) : t`an unknown address`}
      </Code>
      <Text size="sm" c="dimmed">
        {error}
      </Text>
    </div>
  )
}

function Bar({ value, most }: { value: number; most: number }) {
  return (
    <div className={classes.row}>
      <div className={classes.track} aria-hidden="true">
        <div className={classes.bar} style={{ width: `${(value / most) * 100}%` }} />
      </div>
      <span className={classes.number}>{formatNumber(value)}</span>
    </div>
  )
}
