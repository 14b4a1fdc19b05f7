import { msg, t } from '@lingui/core/macro'
import { SegmentedControl } from '@mantine/core'
import { translated } from '../../language/translate.ts'
import { useFilters } from '../../parts/filter-bar.tsx'
import { PageHeader } from '../../parts/page-header.tsx'
import { CallChart } from './call-chart.tsx'
import { CallDrawer } from './call-drawer.tsx'
import { PeriodFilterBar } from './call-filters.tsx'
import { CallList } from './call-list.tsx'
import { ErrorGroups } from './error-groups.tsx'
import type { CallFilters } from './search.ts'

const ERRORS = 'errors'
const CHART = 'chart'
const VIEWS = [
  { value: 'all', label: msg`All calls` },
  { value: CHART, label: msg`Chart` },
  { value: ERRORS, label: msg`Errors in groups` },
]

export function Calls() {
  const [filters, change] = useFilters<CallFilters>()
  const view = VIEWS.find(({ value }) => value === filters.view)?.value ?? 'all'
  return (
    <>
      <PageHeader
        title={t`Calls`}
        description={t`What partners’ systems asked of this community, and what they were answered. The newest are first.`}
      />
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
          <PeriodFilterBar />
          <CallChart filters={filters} />
        </>
      )}
      {view === ERRORS && <ErrorGroups filters={filters} />}
      <CallDrawer requestId={filters.call} onClose={() => change({ call: undefined })} />
    </>
  )
}
