import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useSearch } from '@tanstack/react-router'
import { DataTable } from '../../parts/data-table.tsx'
import { formatDay } from '../../parts/day.ts'
import { EmptyState } from '../../parts/empty-state.tsx'
import { DateFilter, FilterBar, useFilters } from '../../parts/filter-bar.tsx'
import { Hours } from '../../parts/hours.tsx'
import { LinkButton } from '../../parts/links.tsx'
import { Panel } from '../../parts/panel.tsx'
import { Time } from '../../parts/time.tsx'
import { useList } from '../../reading.ts'
import { useCommunity, useCommunityPath } from '../../session.ts'
import type { OfficeMember, StatementRow } from '../../wire.ts'
import { Movement } from './movement.tsx'

/** The page goes on below: what is older is loaded when asked for. */
const SHOWN_FIRST = 10

export function Statement({ member }: { member: OfficeMember }) {
  const { slug } = useCommunity()
  const path = useCommunityPath()
  const search = useSearch({ strict: false })
  const [{ from, until }] = useFilters<{ from?: string; until?: string }>()
  const list = useList<StatementRow>(path(`/members/${member.id}/statement`), { from, until, limit: SHOWN_FIRST })
  return (
    <Panel
      title={t`Statement`}
      description={t`What went into and out of the wallet, the latest first.`}
      actions={
        <LinkButton
          variant="default"
          to="/$slug/members/$id/statement"
          params={{ slug, id: String(member.id) }}
          search={{ ...(from ? { from } : {}), ...(until ? { until } : {}) }}
        >
          <Trans>Print a statement</Trans>
        </LinkButton>
      }
    >
      <FilterBar names={['from', 'until']}>
        <DateFilter name="from" label={t`From`} />
        <DateFilter name="until" label={t`Until`} />
      </FilterBar>
      <DataTable
        label={t`Statement`}
        list={list}
        rowKey={(row) => row.id}
        rowLink={(row) => ({
          to: '/$slug/members/$id',
          params: { slug, id: String(member.id) },
          search: { ...search, transfer: String(row.reverses_id ?? row.id) },
          resetScroll: false,
        })}
        empty={<NothingMoved isFiltered={from !== undefined || until !== undefined} />}
        columns={[
          { header: t`Day`, cell: (row) => <time>{formatDay(row.occurred_on)}</time> },
          { header: t`What`, narrow: 'line', cell: (row) => <Movement row={row} linked /> },
          { header: t`Recorded`, cell: (row) => <Time value={row.created_at} /> },
          { header: t`Hours`, align: 'end', narrow: 'end', cell: (row) => <Hours value={row.hours} change /> },
          { header: t`Balance`, align: 'end', cell: (row) => <Hours value={row.balance_hours} /> },
        ]}
      />
    </Panel>
  )
}

function NothingMoved({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered)
    return (
      <EmptyState title={t`Nothing happened in these days`}>
        <Trans>Choose others, or clear them.</Trans>
      </EmptyState>
    )
  return (
    <EmptyState title={t`Nothing yet`}>
      <Trans>Exchanges, credits of partners and adjustments appear here.</Trans>
    </EmptyState>
  )
}
