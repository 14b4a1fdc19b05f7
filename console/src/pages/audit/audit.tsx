import { EmptyState } from '../../parts/empty-state.tsx'
import { PageHeader } from '../../parts/page-header.tsx'
import { Panel } from '../../parts/panel.tsx'

export function Audit() {
  return (
    <>
      <PageHeader title="Audit" description="Who did what, and when." />
      <Panel>
        <EmptyState title="This page is being built">It does not show anything yet.</EmptyState>
      </Panel>
    </>
  )
}
