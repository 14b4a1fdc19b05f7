import { EmptyState } from '../../parts/empty-state.tsx'
import { Panel } from '../../parts/panel.tsx'

/** Who may only look comes here by a link at most. */
export function NotForViewers() {
  return (
    <Panel>
      <EmptyState title="Your role does not include this">
        Ask an owner of the community to make you a manager.
      </EmptyState>
    </Panel>
  )
}
