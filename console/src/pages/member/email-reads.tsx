import { t } from '@lingui/core/macro'
import { DataTable } from '../../parts/data-table.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { Panel } from '../../parts/panel.tsx'
import { Time } from '../../parts/time.tsx'
import { useList } from '../../reading.ts'
import { useCommunityPath } from '../../session.ts'
import type { EmailRead, OfficeMember } from '../../wire.ts'

const SHOWN_FIRST = 5

/** For a member who asks who knows their address. */
export function EmailReads({ member }: { member: OfficeMember }) {
  const path = useCommunityPath()
  const reads = useList<EmailRead>(path(`/members/${member.id}/email-reads`), { limit: SHOWN_FIRST })
  return (
    <Panel
      title={t`Who read the email address`}
      description={t`Every partner call that returned the address. Administrators of this community can always see it.`}
    >
      <DataTable
        label={t`Calls that read the email address`}
        list={reads}
        rowKey={(read) => `${read.at} ${read.request_id}`}
        empty={<EmptyState title={t`No partner has read it`} />}
        columns={[
          { header: t`Partner`, cell: (read) => read.partner?.name ?? read.client_id },
          { header: t`When`, cell: (read) => <Time value={read.at} /> },
          { header: t({ message: 'Request', context: 'a call of a partner' }), cell: (read) => read.request_id ?? '–' },
        ]}
      />
    </Panel>
  )
}
