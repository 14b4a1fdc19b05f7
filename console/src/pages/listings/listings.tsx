import { EmptyState } from '../../parts/empty-state.tsx'
import { PageHeader } from '../../parts/page-header.tsx'
import { Panel } from '../../parts/panel.tsx'

export function Listings() {
  return (
    <>
      <PageHeader title="Listings" description="What members offer and ask for." />
      <Panel>
        <EmptyState title="This page is being built">It does not show anything yet.</EmptyState>
      </Panel>
    </>
  )
}
