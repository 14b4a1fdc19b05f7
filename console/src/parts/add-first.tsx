import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useCommunity } from '../session.ts'
import { EmptyState } from './empty-state.tsx'
import { LinkButton } from './links.tsx'

/** Instead of a form about members. */
export function AddMembersFirst({ title = t`Add a member first` }: { title?: string }) {
  const { slug } = useCommunity()
  return (
    <EmptyState
      title={title}
      action={
        <LinkButton to="/$slug/members" params={{ slug }}>
          <Trans>Go to members</Trans>
        </LinkButton>
      }
    >
      <Trans>You can add them one by one, or import all of them from a spreadsheet.</Trans>
    </EmptyState>
  )
}

/** Instead of a form about partners. */
export function AddPartnerFirst() {
  const { slug } = useCommunity()
  return (
    <EmptyState
      title={t`Add a partner first`}
      action={
        <LinkButton to="/$slug/partners" params={{ slug }}>
          <Trans>Go to partners</Trans>
        </LinkButton>
      }
    >
      <Trans>A webhook notifies the system of an active partner of what happens here.</Trans>
    </EmptyState>
  )
}
