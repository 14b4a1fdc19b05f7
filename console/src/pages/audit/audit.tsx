import { msg, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Button, Group, Text } from '@mantine/core'
import { translated } from '../../language/translate.ts'
import { CsvDownload } from '../../parts/csv-download.tsx'
import { DataTable } from '../../parts/data-table.tsx'
import { endOfDay, startOfDay } from '../../parts/day.ts'
import { EmptyState } from '../../parts/empty-state.tsx'
import { ChoiceFilter, DateFilter, FilterBar, useFilters } from '../../parts/filter-bar.tsx'
import { PageHeader } from '../../parts/page-header.tsx'
import { Time, useTimeZone } from '../../parts/time.tsx'
import { useList, useRead } from '../../reading.ts'
import { useCommunityPath } from '../../session.ts'
import { Details } from './details.tsx'
import { ACTIONS } from './actions.ts'
import { SentenceText } from './sentence-text.tsx'
import type { AuditRecord } from '../../wire.ts'

const FILTERS = ['actor', 'action', 'from', 'until', 'batch', 'view']
/** Every entry; otherwise imports and email reads are summed up. */
const SINGLE = 'single'
const VIEWS = [{ value: SINGLE, label: msg`Every entry` }]
const OTHERS = [
  { value: 'client', label: msg`Partners` },
  { value: 'command', label: msg`The command line` },
  { value: 'system', label: msg`The service itself` },
]

type Name = 'actor' | 'action' | 'from' | 'until' | 'batch' | 'view'
type Filters = { [name in Name]?: string | undefined }

export function Audit() {
  const path = useCommunityPath()
  const zone = useTimeZone()
  const [filters] = useFilters<Filters>()
  const { action, from, until, batch, view } = filters
  const query = {
    ...readActor(filters.actor),
    action,
    from: startOfDay(from, zone),
    until: endOfDay(until, zone),
    batch,
  }
  const isGrouped = view !== SINGLE && batch === undefined
  const list = useList<AuditRecord>(path('/audit'), { ...query, ...(isGrouped && { grouped: true }) })
  const admins = useRead<{ id: number; name: string }[]>(path('/administrators'))
  const actors = [
    ...(admins.data ?? []).map(({ id, name }) => ({ value: `admin ${id}`, label: name })),
    ...translated(OTHERS),
  ]
  return (
    <>
      <PageHeader
        title={t`Audit`}
        description={t`Who did what, and when. Nothing here can be changed or removed.`}
        actions={<CsvDownload path={path('/audit/export')} query={query} />}
      />
      <FilterBar names={FILTERS}>
        <ChoiceFilter name="actor" label={t`Who`} choices={actors} any={t`Everybody`} />
        <ChoiceFilter name="action" label={t`What`} choices={translated(ACTIONS)} any={t`Everything`} />
        <DateFilter name="from" label={t`From`} />
        <DateFilter name="until" label={t`Until`} />
        <ChoiceFilter name="view" label={t`Show`} choices={translated(VIEWS)} any={t`Grouped`} />
      </FilterBar>
      <BatchFilter />
      <DataTable
        label={t`Audit log`}
        list={list}
        rowKey={(row) => row.id}
        empty={
          <EmptyState title={t`Nothing fits the filters`}>
            <Trans>Clear them to see all. Every change is recorded here.</Trans>
          </EmptyState>
        }
        columns={[
          { header: t`What happened`, cell: (row) => <SentenceText entry={row} /> },
          { header: t`When`, narrow: 'line', cell: (row) => <Time value={row.at} /> },
          { header: t`Details`, narrow: 'line', cell: (row) => <Details entry={row} /> },
        ]}
      />
    </>
  )
}

/** The details of an import lead to its rows; here the filter can only be removed. */
function BatchFilter() {
  const [{ batch }, change] = useFilters<Filters>()
  if (!batch) return null
  return (
    <Group mb="md" gap="sm">
      <Text size="sm">
        <Trans>Only the rows of one import</Trans>
      </Text>
      <Button size="compact-sm" variant="default" onClick={() => change({ batch: undefined })}>
        <Trans>Show all</Trans>
      </Button>
    </Group>
  )
}

function readActor(actor: string | undefined): { actor_kind?: string; actor_id?: string } {
  const [kind, id] = (actor ?? '').split(' ')
  return { ...(kind && { actor_kind: kind }), ...(id && { actor_id: id }) }
}
