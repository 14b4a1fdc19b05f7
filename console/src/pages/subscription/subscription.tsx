import { t } from '@lingui/core/macro'
import { Stack } from '@mantine/core'
import { useParams } from '@tanstack/react-router'
import { Suspense } from 'react'
import { lazyPart } from '../../parts/lazy-dialog.tsx'
import { ButtonLoading, Loading } from '../../parts/loading.tsx'
import { PageHeader } from '../../parts/page-header.tsx'
import { Problem } from '../../parts/problem.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import { useRead } from '../../reading.ts'
import { useCommunityPath, useRole } from '../../session.ts'
import type { SubscriptionOverview } from '../../wire.ts'
import { healthOf, hostOf } from '../webhooks/words.ts'
import { Deliveries } from './deliveries.tsx'
import { POLL_INTERVAL_MS } from './poll-interval.ts'
import { State } from './state.tsx'

const SubscriptionActions = lazyPart(async () => (await import('./subscription-actions.tsx')).SubscriptionActions)
const Statistics = lazyPart(async () => (await import('./statistics.tsx')).Statistics)
const DeliveryDrawer = lazyPart(async () => (await import('./delivery-drawer.tsx')).DeliveryDrawer)

export function Subscription() {
  const { id } = useParams({ strict: false })
  const { isOwner } = useRole()
  const path = useCommunityPath()(`/webhooks/${id}`)
  const { data, isError, error, refetch } = useRead<SubscriptionOverview>(path, undefined, POLL_INTERVAL_MS)
  const host = data && hostOf(data.target_url)
  return (
    <>
      <PageHeader
        title={data ? t`Webhook of ${data.partner.name}` : t`Webhook`}
        description={host && t`Sent to ${host}`}
        badge={data && <StatusBadge status={healthOf(data)} />}
        actions={
          data &&
          isOwner && (
            <Suspense fallback={<ButtonLoading label={t`Actions`} />}>
              <SubscriptionActions subscription={data} />
            </Suspense>
          )
        }
      />
      {isError && !data && <Problem error={error} again={() => void refetch()} />}
      {!data && !isError && <Loading label={t`Webhook`} height={[260, 640, 480]} />}
      {data && (
        // Deliveries of one webhook must not stay on the page of the next.
        <Stack key={data.id} gap="lg">
          <State subscription={data} />
          <Suspense fallback={<Loading label={t`Success and speed`} height={640} />}>
            <Statistics subscriptionId={data.id} />
          </Suspense>
          <Deliveries subscriptionId={data.id} />
          <Suspense>
            <DeliveryDrawer subscriptionId={data.id} />
          </Suspense>
        </Stack>
      )}
    </>
  )
}
