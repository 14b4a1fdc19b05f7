import { Stack } from '@mantine/core'
import { DataTable, PlainTable, type Column } from '../../parts/data-table.tsx'
import { EmptyState } from '../../parts/empty-state.tsx'
import { LinkButton, LinkText } from '../../parts/links.tsx'
import { PageHeader } from '../../parts/page-header.tsx'
import { Panel } from '../../parts/panel.tsx'
import { Problem } from '../../parts/problem.tsx'
import { Time } from '../../parts/time.tsx'
import { useList, useRead } from '../../reading.ts'
import { useCommunity, useCommunityPath } from '../../session.ts'
import type { Alert } from '../../wire.ts'
import { alertText } from './words.ts'

const COLUMNS: Column<Alert>[] = [
  { header: 'What', cell: (alert) => <What alert={alert} /> },
  { header: 'Since', cell: ({ raised_at }) => <Time value={raised_at} /> },
]
const ALL_COLUMNS: Column<Alert>[] = [
  ...COLUMNS,
  { header: 'Until', cell: ({ ended_at }) => (ended_at ? <Time value={ended_at} /> : 'still so') },
]

export function Alerts() {
  const path = useCommunityPath()
  const open = useRead<Alert[]>(path('/alerts/open'))
  const all = useList<Alert>(path('/alerts'))
  return (
    <>
      <PageHeader
        title="Alerts"
        description="What was out of order, and whether it still is."
        actions={
          <LinkButton variant="default" to="/account">
            Choose what you hear of
          </LinkButton>
        }
      />
      <Stack gap="lg">
        <Panel title="Now">
          {open.isError && <Problem error={open.error} again={() => void open.refetch()} />}
          {open.data && (
            <PlainTable
              label="Open alerts"
              columns={COLUMNS}
              rows={open.data}
              rowKey={({ id, kind }) => `${id} ${kind}`}
              empty={<EmptyState title="All is well">Nothing that you want to hear of is out of order.</EmptyState>}
            />
          )}
        </Panel>
        <Panel title="All" description="Kept for three months after they have ended.">
          <DataTable
            label="All alerts"
            list={all}
            columns={ALL_COLUMNS}
            rowKey={({ id }) => id}
            empty={<EmptyState title="No alert yet">When something is out of order, it is listed here.</EmptyState>}
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
