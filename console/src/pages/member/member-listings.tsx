import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { formatHours } from '../../parts/hours.tsx'
import { DataTable } from '../../parts/data-table.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { LinkText } from '../../parts/links.tsx'
import { Name } from '../../parts/name.tsx'
import { Panel } from '../../parts/panel.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import { useList } from '../../reading.ts'
import { useCommunity, useCommunityPath } from '../../session.ts'
import type { OfficeListing, OfficeMember } from '../../wire.ts'

const SHOWN_FIRST = 5

/** What the member offers and asks for. */
export function MemberListings({ member }: { member: OfficeMember }) {
  const { slug } = useCommunity()
  const path = useCommunityPath()
  const list = useList<OfficeListing>(path('/listings'), { member_id: member.id, limit: SHOWN_FIRST })
  return (
    <Panel
      title={t`Listings`}
      actions={
        <LinkText to="/$slug/listings" params={{ slug }} search={{ member: String(member.id) }}>
          <Trans>Show their listings</Trans>
        </LinkText>
      }
    >
      <DataTable
        label={t`Listings`}
        list={list}
        rowKey={({ id }) => id}
        empty={<EmptyState title={t`No listings`} />}
        columns={[
          { header: t`Listing`, cell: ({ title }) => <Name>{title}</Name> },
          {
            header: t`Kind`,
            narrow: 'line',
            cell: ({ type, category }) => (type === 'service' ? t`Offer, ${category}` : t`Request, ${category}`),
          },
          { header: t`Hours`, align: 'end', cell: ({ hours }) => (hours === null ? '–' : formatHours(hours)) },
          {
            header: t`Status`,
            narrow: 'end',
            cell: ({ status }) =>
              status === 'closed' ? (
                <StatusBadge status="closed" />
              ) : (
                <StatusBadge status="active" label={t({ message: 'Open', context: 'the state of a listing' })} />
              ),
          },
        ]}
      />
    </Panel>
  )
}
