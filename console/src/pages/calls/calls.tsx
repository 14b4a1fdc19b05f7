import { SegmentedControl } from '@mantine/core'
import { useFilters } from '../../parts/filter-bar.tsx'
import { PageHeader } from '../../parts/page-header.tsx'
import { Suspense } from 'react'
import { lazyPart } from '../../parts/lazy-dialog.tsx'
import { PeriodFilterBar } from './call-filters.tsx'
import { CallList } from './call-list.tsx'
import type { CallFilters } from './search.ts'

const CallChart = lazyPart(async () => (await import('./call-chart.tsx')).CallChart)
const CallDrawer = lazyPart(async () => (await import('./call-drawer.tsx')).CallDrawer)
const ErrorGroups = lazyPart(async () => (await import('./error-groups.tsx')).ErrorGroups)

const ERRORS = 'errors'
const CHART = 'chart'
const VIEWS = [
  { value: 'all', label: 'All calls' },
  { value: CHART, label: 'Chart' },
  { value: ERRORS, label: 'Errors in groups' },
]

export function Calls() {
  const [filters, change] = useFilters<CallFilters>()
  const view = VIEWS.find(({ value }) => value === filters.view)?.value ?? 'all'
  return (
    <>
      <PageHeader
        title="Calls"
        description="What partners’ systems asked of this community, and what they were answered. The newest are first."
      />
      <SegmentedControl
        aria-label="How to show calls"
        mb="lg"
        data={VIEWS}
        value={view}
        onChange={(chosen) => change({ view: chosen === 'all' ? undefined : chosen })}
      />
      {view === 'all' && <CallList filters={filters} />}
      {view === CHART && <PeriodFilterBar />}
      <Suspense>
        {view === CHART && <CallChart filters={filters} />}
        {view === ERRORS && <ErrorGroups filters={filters} />}
      </Suspense>
      <Suspense>
        <CallDrawer requestId={filters.call} onClose={() => change({ call: undefined })} />
      </Suspense>
    </>
  )
}
