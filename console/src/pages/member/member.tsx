import { Skeleton, Stack } from '@mantine/core'
import { useParams } from '@tanstack/react-router'
import { CopyButton } from '../../parts/copy-button.tsx'
import { Facts } from '../../parts/facts.tsx'
import { formatHours } from '../../parts/hours.tsx'
import { LinkText } from '../../parts/links.tsx'
import { PageHeader } from '../../parts/page-header.tsx'
import { Panel } from '../../parts/panel.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Stat, StatRow } from '../../parts/stat.tsx'
import { Time } from '../../parts/time.tsx'
import { useRead } from '../../reading.ts'
import { useCommunity, useCommunityPath, useRole } from '../../session.ts'
import { MEMBER_FIELDS } from '../members/member-fields.tsx'
import { MemberStatus } from '../members/member-status.tsx'
import type { OfficeMember } from '../../wire.ts'
import { EditMember } from './edit-member.tsx'
import { EmailReads } from './email-reads.tsx'
import { EraseMember } from './erase-member.tsx'
import { LeaveOrReturn } from './leave-or-return.tsx'
import { PartnersView } from './partners-view.tsx'
import { Statement } from './statement.tsx'

export function Member() {
  const { id } = useParams({ strict: false })
  const path = useCommunityPath()
  const member = useRead<OfficeMember>(path(`/members/${id}`))
  if (!member.data) {
    return (
      <>
        <PageHeader title="Member" />
        {member.isError ? (
          <Problem error={member.error} again={() => void member.refetch()} />
        ) : (
          <Skeleton height={240} role="status" aria-label="Loading the member" />
        )}
      </>
    )
  }
  return <Shown member={member.data} />
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
        description={isErased && 'This person was erased. The hours stay in the books without a name.'}
        actions={mayChange && <EditMember member={member} />}
      />
      <StatRow>
        <Stat label="Balance" value={formatHours(member.balance_hours)} hint={balanceHint(member.balance_hours)} />
      </StatRow>
      <Stack gap="lg">
        <Record member={member} />
        <Statement member={member} />
        {!isErased && <EmailReads member={member} />}
        {mayChange && <PartnersView member={member} />}
        {mayChange && <LeaveOrReturn member={member} />}
        {mayChange && <EraseMember member={member} />}
      </Stack>
    </>
  )
}

function balanceHint(hours: number): string {
  if (hours === 0) return 'even'
  return hours > 0 ? 'to be spent' : 'owed to the community'
}

function Record({ member }: { member: OfficeMember }) {
  const { slug } = useCommunity()
  return (
    <Panel title="Record">
      <Facts
        facts={[
          ...MEMBER_FIELDS.filter(({ name }) => name !== 'name').map(
            ({ name, title }) => [title, member[name]] as const,
          ),
          [
            'Payment reference',
            <span key="reference">
              {member.payment_reference} <CopyButton value={member.payment_reference} what="payment reference" />
            </span>,
          ],
          ['Joined', <Time key="joined" value={member.joined_at} as="date" focusable />],
          ['Left', member.left_at && member.erased_at === null && <Time value={member.left_at} focusable />],
          ['Erased', member.erased_at && <Time value={member.erased_at} focusable />],
          [
            'Listings',
            member.erased_at === null && (
              <LinkText to="/$slug/listings" params={{ slug }} search={{ member: String(member.id) } as never}>
                Show their listings
              </LinkText>
            ),
          ],
        ]}
      />
    </Panel>
  )
}
