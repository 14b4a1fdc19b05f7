import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { useRead } from '../reading.ts'
import { useCommunity, useCommunityPath } from '../session.ts'
import type { ListedMember } from '../wire.ts'
import { EmptyState } from './empty-state.tsx'
import { LinkButton } from './links.tsx'

/** Whether a form cannot be completed yet, because the community has fewer active members than it needs. */
export function useTooFewMembers(needed: number, isAsked = true): boolean {
  const path = useCommunityPath()
  const { data } = useRead<ListedMember[]>(isAsked ? path('/members') : undefined, { limit: needed, status: 'active' })
  return data !== undefined && data.length < needed
}

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
