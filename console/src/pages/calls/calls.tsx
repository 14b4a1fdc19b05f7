import { SegmentedControl } from '@mantine/core'
import { useFilters } from '../../parts/filter-bar.tsx'
import { PageHeader } from '../../parts/page-header.tsx'
import { CallDrawer } from './call-drawer.tsx'
import { CallList } from './call-list.tsx'
import { ErrorGroups } from './error-groups.tsx'
import type { CallFilters } from './search.ts'

const ERRORS = 'errors'
const VIEWS = [
  { value: 'all', label: 'All calls' },
  { value: ERRORS, label: 'Errors in groups' },
]

export function Calls() {
  const [filters, change] = useFilters<CallFilters>()
  const isErrors = filters.view === ERRORS
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
        value={isErrors ? ERRORS : 'all'}
        onChange={(view) => change({ view: view === ERRORS ? ERRORS : undefined })}
      />
      {isErrors ? <ErrorGroups filters={filters} /> : <CallList filters={filters} />}
      <CallDrawer requestId={filters.call} onClose={() => change({ call: undefined })} />
    </>
  )
}
