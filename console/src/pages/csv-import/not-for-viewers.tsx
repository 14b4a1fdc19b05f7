import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { EmptyState } from '../../parts/empty-state.tsx'
import { Panel } from '../../parts/panel.tsx'

/** Who may only look comes here by a link at most. */
export function NotForViewers() {
  return (
    <Panel>
      <EmptyState title={t`Your role does not include this`}>
        <Trans>Ask an owner of the community to make you a manager.</Trans>
      </EmptyState>
    </Panel>
  )
}
