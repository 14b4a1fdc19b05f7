import { msg, t } from '@lingui/core/macro'
import { SegmentedControl } from '@mantine/core'
import { Suspense } from 'react'
import { translated } from '../../language/translate.ts'
import { useFilters } from '../../parts/filter-bar.tsx'
import { lazyPart } from '../../parts/lazy-dialog.tsx'
import { Loading } from '../../parts/loading.tsx'
import { PageHeader } from '../../parts/page-header.tsx'
import { PeriodFilterBar } from './call-filters.tsx'
import { CallList } from './call-list.tsx'
import type { CallFilters } from './search.ts'

const CallChart = lazyPart(async () => (await import('./call-chart.tsx')).CallChart)
const CallDrawer = lazyPart(async () => (await import('./call-drawer.tsx')).CallDrawer)
const ErrorGroups = lazyPart(async () => (await import('./error-groups.tsx')).ErrorGroups)

const ERRORS = 'errors'
const CHART = 'chart'
const VIEWS = [
  { value: 'all', label: msg`All calls` },
  { value: CHART, label: msg`Chart` },
  { value: ERRORS, label: msg`Errors by kind` },
]

export function Calls() {
  const [filters, change] = useFilters<CallFilters>()
  const view = VIEWS.find(({ value }) => value === filters.view)?.value ?? 'all'
  return (
    <>
      <PageHeader title={t`Calls`} description={t`What partners’ systems asked for, and what they got.`} />
      <SegmentedControl
        aria-label={t`How to show calls`}
        mb="lg"
        data={translated(VIEWS)}
        value={view}
        onChange={(chosen) => change({ view: chosen === 'all' ? undefined : chosen })}
      />
      {view === 'all' && <CallList filters={filters} />}
      {view === CHART && (
        <>
          <PeriodFilterBar isLastDay />
          <Suspense fallback={<Loading label={t`Chart`} height={400} />}>
            <CallChart filters={filters} />
          </Suspense>
        </>
      )}
      {view === ERRORS && (
        <Suspense fallback={<Loading label={t`Errors by kind`} height={400} />}>
          <ErrorGroups filters={filters} />
        </Suspense>
      )}
      <Suspense>
        <CallDrawer requestId={filters.call} onClose={() => change({ call: undefined })} />
      </Suspense>
    </>
  )
}
