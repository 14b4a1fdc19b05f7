import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Stack } from '@mantine/core'
import { DataTable, PlainTable, type Column } from '../../parts/data-table.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { LinkButton, LinkText } from '../../parts/links.tsx'
import { Loading } from '../../parts/loading.tsx'
import { PageHeader } from '../../parts/page-header.tsx'
import { Panel } from '../../parts/panel.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Time } from '../../parts/time.tsx'
import { useList, useRead } from '../../reading.ts'
import { useCommunity, useCommunityPath } from '../../session.ts'
import type { Alert } from '../../wire.ts'
import { alertText } from './words.ts'

const columns = (): Column<Alert>[] => [
  { header: t`What`, cell: (alert) => <What alert={alert} /> },
  { header: t`Since`, cell: ({ raised_at }) => <Time value={raised_at} /> },
]
const allColumns = (): Column<Alert>[] => [
  ...columns(),
  { header: t`Until`, cell: ({ ended_at }) => (ended_at ? <Time value={ended_at} /> : t`ongoing`) },
]

export function Alerts() {
  const path = useCommunityPath()
  const open = useRead<Alert[]>(path('/alerts/open'))
  const all = useList<Alert>(path('/alerts'))
  return (
    <>
      <PageHeader
        title={t`Alerts`}
        description={t`Problems, and whether they are resolved.`}
        actions={
          <LinkButton variant="default" to="/account">
            <Trans>Choose your alerts</Trans>
          </LinkButton>
        }
      />
      <Stack gap="lg">
        <Panel title={t`Now`}>
          {open.isError && <Problem error={open.error} again={() => void open.refetch()} />}
          {!open.data && !open.isError && <Loading label={t`Open alerts`} height={128} />}
          {open.data && (
            <PlainTable
              label={t`Open alerts`}
              columns={columns()}
              rows={open.data}
              rowKey={({ id, kind }) => `${id} ${kind}`}
              empty={
                <EmptyState title={t`No open alerts`}>
                  <Trans>None of the alerts that you chose is open.</Trans>
                </EmptyState>
              }
            />
          )}
        </Panel>
        <Panel title={t`All`} description={t`Kept for three months after they have ended.`}>
          <DataTable
            label={t`All alerts`}
            list={all}
            columns={allColumns()}
            rowKey={({ id }) => id}
            empty={
              <EmptyState title={t`No alerts yet`}>
                <Trans>When something goes wrong, it is listed here.</Trans>
              </EmptyState>
            }
          />
        </Panel>
      </Stack>
    </>
  )
}

/** With the way to what it is about. */
function What({ alert }: { alert: Alert }) {
  const { slug } = useCommunity()
  const text = alertText(alert)
  const { kind, subject_id, detail } = alert
  if (kind === 'webhook_failing' || kind === 'webhook_disabled') {
    return (
      <LinkText inherit to="/$slug/webhooks/$id" params={{ slug, id: String(subject_id) }}>
        {text}
      </LinkText>
    )
  }
  if (kind === 'calls_rejected') {
    const partner = subject_id === 0 ? {} : { partner: String(subject_id) }
    return (
      <LinkText inherit to="/$slug/calls" params={{ slug }} search={{ view: 'errors', period: '24h', ...partner }}>
        {text}
      </LinkText>
    )
  }
  const partnerId = kind === 'credentials_expiring' ? Number(detail['partner_id']) : subject_id
  if (!partnerId) return text
  return (
    <LinkText inherit to="/$slug/partners/$id" params={{ slug, id: String(partnerId) }}>
      {text}
    </LinkText>
  )
}
