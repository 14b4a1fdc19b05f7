import { plural, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { formatNumber } from '../../language/formats.ts'
import { type Column, PlainTable } from '../../parts/data-table.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { LinkButton } from '../../parts/links.tsx'
import { Panel } from '../../parts/panel.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import { Time } from '../../parts/time.tsx'
import { useCommunity } from '../../session.ts'
import { Share } from './share.tsx'
import type { CallsOfPartner } from '../../wire.ts'

const columns = (): Column<CallsOfPartner>[] => [
  { header: t`Partner`, cell: ({ name }) => name },
  { header: t`Status`, cell: ({ status }) => <StatusBadge status={status} /> },
  { header: t`Calls`, align: 'end', cell: ({ calls }) => formatNumber(calls) },
  { header: t`Refused or failed`, align: 'end', cell: ({ calls, errors }) => <Share part={errors} whole={calls} /> },
  {
    header: t`Last call`,
    cell: ({ last_call_at }) => (last_call_at ? <Time value={last_call_at} as="relative" /> : t`never`),
  },
]

interface Props {
  partners: CallsOfPartner[]
  /** How many there are; only the few that called last are listed. */
  count: number
  days: number
}

export function PartnerCalls({ partners, count, days }: Props) {
  const { slug } = useCommunity()
  const isSelection = count > partners.length
  return (
    <Panel
      title={t`Calls by partners`}
      description={describe(days, partners.length, count)}
      actions={
        <>
          {isSelection && (
            <LinkButton variant="default" to="/$slug/partners" params={{ slug }}>
              <Trans>All partners</Trans>
            </LinkButton>
          )}
          <LinkButton variant="default" to="/$slug/calls" params={{ slug }}>
            <Trans>All calls</Trans>
          </LinkButton>
        </>
      }
    >
      <PlainTable
        label={t`Calls by partners`}
        columns={columns()}
        rows={partners}
        rowKey={({ partner_id }) => partner_id}
        rowLink={({ partner_id }) => ({ to: '/$slug/partners/$id', params: { slug, id: String(partner_id) } })}
        empty={
          <EmptyState
            title={t`No partners yet`}
            action={
              <LinkButton to="/$slug/partners" params={{ slug }}>
                <Trans>Go to partners</Trans>
              </LinkButton>
            }
          >
            <Trans>
              A partner is an organisation that may read from this community or credit hours to its members.
            </Trans>
          </EmptyState>
        }
      />
    </Panel>
  )
}

function describe(days: number, listed: number, count: number): string {
  if (listed === count) return plural(days, { one: 'In the last day.', other: 'In the last # days.' })
  const [shown, all] = [formatNumber(listed), formatNumber(count)]
  return plural(days, {
    one: `In the last day. The ${shown} of ${all} partners that called last.`,
    other: `In the last # days. The ${shown} of ${all} partners that called last.`,
  })
}
