import { type Column, PlainTable } from '../../parts/data-table.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { LinkButton } from '../../parts/links.tsx'
import { Panel } from '../../parts/panel.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import { Time } from '../../parts/time.tsx'
import { useCommunity } from '../../session.ts'
import { Share } from './share.tsx'
import type { CallsOfPartner } from '../../wire.ts'

const count = new Intl.NumberFormat('en-GB')

const COLUMNS: Column<CallsOfPartner>[] = [
  { header: 'Partner', cell: ({ name }) => name },
  { header: 'Status', cell: ({ status }) => <StatusBadge status={status} /> },
  { header: 'Calls', align: 'end', cell: ({ calls }) => count.format(calls) },
  { header: 'Refused or failed', cell: ({ calls, errors }) => <Share part={errors} whole={calls} /> },
  {
    header: 'Last call',
    cell: ({ last_call_at }) => (last_call_at ? <Time value={last_call_at} as="relative" /> : 'none'),
  },
]

interface Props {
  partners: CallsOfPartner[]
  /** How many there are; only the few that called last are listed. */
  count: number
  days: number
}

export function PartnerCalls({ partners, count: all, days }: Props) {
  const { slug } = useCommunity()
  const isSelection = all > partners.length
  return (
    <Panel
      title="Calls by partners"
      description={`In the last ${days} days.${isSelection ? ` The ${partners.length} of ${count.format(all)} partners that called last.` : ''}`}
      actions={
        <>
          {isSelection && (
            <LinkButton variant="default" to="/$slug/partners" params={{ slug }}>
              All partners
            </LinkButton>
          )}
          <LinkButton variant="default" to="/$slug/calls" params={{ slug }}>
            All calls
          </LinkButton>
        </>
      }
    >
      <PlainTable
        label="Calls by partners"
        columns={COLUMNS}
        rows={partners}
        rowKey={({ partner_id }) => partner_id}
        rowLink={({ partner_id }) => ({ to: '/$slug/partners/$id', params: { slug, id: String(partner_id) } })}
        empty={
          <EmptyState
            title="No partner yet"
            action={
              <LinkButton to="/$slug/partners" params={{ slug }}>
                To the partners
              </LinkButton>
            }
          >
            A partner is an organisation that may read from this community or credit hours to its members.
          </EmptyState>
        }
      />
    </Panel>
  )
}
