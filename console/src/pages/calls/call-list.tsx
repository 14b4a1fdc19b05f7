import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Button, Code, Group, Text } from '@mantine/core'
import { CsvDownload } from '../../parts/csv-download.tsx'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { formatDuration } from '../../parts/duration.ts'
import { EmptyState } from '../../parts/empty-state.tsx'
import { Time } from '../../parts/time.tsx'
import { refresh, useList } from '../../reading.ts'
import { useCommunity, useCommunityPath } from '../../session.ts'
import { CallFilterBar } from './call-filters.tsx'
import { CallStatus } from './call-status.tsx'
import { usePeriod } from './period.ts'
import type { CallFilters } from './search.ts'
import type { Call } from '../../wire.ts'
import { shortPath } from './words.ts'

const columns = (): Column<Call>[] => [
  { header: t`When`, cell: ({ at }) => <Time value={at} as="second" /> },
  { header: t`Partner`, cell: ({ partner_name }) => partner_name ?? t`unknown` },
  {
    header: t`Call`,
    cell: ({ method, path }) => (
      <Code>
        {method} {shortPath(path)}
      </Code>
    ),
  },
  { header: t`Answer`, cell: (call) => <Answer call={call} /> },
  { header: t`Took`, align: 'end', cell: ({ duration_ms }) => formatDuration(duration_ms) },
]

function Answer({ call: { status, error } }: { call: Call }) {
  return (
    <div>
      <CallStatus status={status} />
      {error && (
        <Text size="sm" c="dimmed">
          {error}
        </Text>
      )}
    </div>
  )
}

export function CallList({ filters }: { filters: CallFilters }) {
  const { slug } = useCommunity()
  const path = useCommunityPath()
  const period = usePeriod(filters)
  const { partner, status, method, path: part, error, request } = filters
  const query = { partner_id: partner, status, method, path: part, error, request_id: request, ...period }
  const list = useList<Call>(path('/calls'), query)
  const isFiltered = Object.values(query).some((value) => value !== undefined)
  return (
    <>
      <CallFilterBar />
      <Group justify="flex-end" mb="sm" className="no-print">
        <Text size="sm" c="dimmed" flex="1 1 16rem">
          <Trans>The newest are first.</Trans>
        </Text>
        <Button variant="default" onClick={() => void refresh(path('/calls'))}>
          <Trans>Refresh</Trans>
        </Button>
        <CsvDownload path={path('/calls/export')} query={query} />
      </Group>
      <DataTable
        label={t`Calls`}
        list={list}
        columns={columns()}
        rowKey={({ request_id }) => request_id}
        rowLink={({ request_id }) => ({
          to: '/$slug/calls',
          params: { slug },
          search: { ...filters, call: request_id },
          resetScroll: false,
        })}
        empty={isFiltered ? <NothingFound /> : <NoCall />}
      />
    </>
  )
}

function NothingFound() {
  return (
    <EmptyState title={t`No call matches`}>
      <Trans>Remove a filter, or choose a longer time.</Trans>
    </EmptyState>
  )
}

function NoCall() {
  return (
    <EmptyState title={t`No calls yet`}>
      <Trans>
        As soon as a partner’s system fetches its first token, it is listed here. Calls are kept for a limited time.
      </Trans>
    </EmptyState>
  )
}
