import { EmptyState } from '../../parts/empty-state.tsx'
import { PageHeader } from '../../parts/page-header.tsx'
import { Panel } from '../../parts/panel.tsx'

export function CommunityPage() {
  return (
    <>
      <PageHeader title="Community" description="Name, limits, categories and administrators." />
      <Panel>
        <EmptyState title="This page is being built">It does not show anything yet.</EmptyState>
      </Panel>
    </>
  )
}
