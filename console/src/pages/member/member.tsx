import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Button, Stack } from '@mantine/core'
import { useParams } from '@tanstack/react-router'
import { Suspense } from 'react'
import { ApiError } from '../../api.ts'
import { formatDay } from '../../parts/day.ts'
import { EmptyState } from '../../parts/empty-state.tsx'
import { formatHours } from '../../parts/hours.tsx'
import { lazyDialog, lazyPart } from '../../parts/lazy-dialog.tsx'
import { LinkButton } from '../../parts/links.tsx'
import { ButtonLoading, Loading } from '../../parts/loading.tsx'
import { PageHeader } from '../../parts/page-header.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Stat, StatRow } from '../../parts/stat.tsx'
import { useRead } from '../../reading.ts'
import { useCommunity, useCommunityPath, useRole } from '../../session.ts'
import { MemberStatus } from '../members/member-status.tsx'
import type { OfficeMember } from '../../wire.ts'
import { Contact } from './contact.tsx'
import { EmailReads } from './email-reads.tsx'
import { MemberListings } from './member-listings.tsx'
import { Statement } from './statement.tsx'

const AdjustBalance = lazyDialog<{ member: OfficeMember }>(
  async () => (await import('../exchanges/adjust-balance.tsx')).AdjustBalance,
  (open) => (
    <Button variant="default" onClick={open}>
      <Trans>Adjust the balance</Trans>
    </Button>
  ),
)
const EditMember = lazyPart(async () => (await import('./edit-member.tsx')).EditMember)
const EraseMember = lazyPart(async () => (await import('./erase-member.tsx')).EraseMember)
const LeaveOrReturn = lazyPart(async () => (await import('./leave-or-return.tsx')).LeaveOrReturn)
const PartnersView = lazyPart(async () => (await import('./partners-view.tsx')).PartnersView)
const TransferDrawer = lazyPart(async () => (await import('../exchanges/transfer-drawer.tsx')).TransferDrawer)

export function Member() {
  const { id } = useParams({ strict: false })
  const path = useCommunityPath()
  const member = useRead<OfficeMember>(path('/members', id))
  if (member.data) return <Shown member={member.data} />
  return (
    <>
      <PageHeader title={t`Member`} />
      {member.isError ? (
        <NotShown error={member.error} again={() => void member.refetch()} />
      ) : (
        <Loading label={t`Member`} height={[96, 240, 480]} />
      )}
    </>
  )
}

function NotShown({ error, again }: { error: unknown; again: () => void }) {
  const { slug } = useCommunity()
  if (!(error instanceof ApiError && error.status === 404)) return <Problem error={error} again={again} />
  return (
    <EmptyState
      title={t`There is no such member`}
      action={
        <LinkButton to="/$slug/members" params={{ slug }}>
          <Trans>All members</Trans>
        </LinkButton>
      }
    >
      <Trans>The address may be mistyped, or belong to another community. Look the person up by name.</Trans>
    </EmptyState>
  )
}

function Shown({ member }: { member: OfficeMember }) {
  const { mayManage } = useRole()
  const isErased = member.erased_at !== null
  const mayChange = mayManage && !isErased
  return (
    <>
      <PageHeader
        title={member.name}
        badge={<MemberStatus member={member} />}
        description={isErased && t`This person was erased. The hours stay in the books without a name.`}
        actions={mayChange && <Actions member={member} />}
      />
      <Stack gap="lg">
        <StatRow>
          <Stat label={t`Balance`} value={formatHours(member.balance_hours)} hint={balanceHint(member.balance_hours)} />
          <Stat
            label={t`Last exchange`}
            value={member.last_exchange_on ? formatDay(member.last_exchange_on) : '–'}
            hint={!member.last_exchange_on && t`none since joining`}
          />
        </StatRow>
        <Contact member={member} mayChange={mayChange} />
        <Statement member={member} />
        {!isErased && <MemberListings member={member} />}
        {!isErased && <EmailReads member={member} />}
        {mayChange && (
          <Suspense fallback={<Loading label={t`Actions`} height={[136, 160, 160]} />}>
            <PartnersView member={member} />
            <LeaveOrReturn member={member} />
            <EraseMember member={member} />
          </Suspense>
        )}
      </Stack>
      <Suspense>
        <TransferDrawer />
      </Suspense>
    </>
  )
}

function Actions({ member }: { member: OfficeMember }) {
  const { slug } = useCommunity()
  return (
    <>
      <Suspense fallback={<ButtonLoading label={t`Edit`} />}>
        <EditMember member={member} />
      </Suspense>
      <AdjustBalance member={member} />
      {member.status === 'active' && (
        <LinkButton to="/$slug/exchanges/record" params={{ slug }} search={{ member: String(member.id) }}>
          <Trans>Record an exchange</Trans>
        </LinkButton>
      )}
    </>
  )
}

function balanceHint(hours: number): string {
  if (hours === 0) return t`even`
  return hours > 0 ? t`to spend` : t`owed to the community`
}
