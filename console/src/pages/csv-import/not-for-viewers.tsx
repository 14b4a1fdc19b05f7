import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { EmptyState } from '../../parts/empty-state.tsx'
import { Panel } from '../../parts/panel.tsx'

/** Viewers reach this page only by a direct link. */
export function NotForViewers() {
  return (
    <Panel>
      <EmptyState title={t`Your role does not include this`}>
        <Trans>Ask an owner of the community to make you a manager.</Trans>
      </EmptyState>
    </Panel>
  )
}
