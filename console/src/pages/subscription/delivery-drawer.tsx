import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Badge, Code, Group, Stack, Text, Title } from '@mantine/core'
import { useState } from 'react'
import { api } from '../../api.ts'
import { formatNumber } from '../../language/formats.ts'
import { BusyButton } from '../../parts/busy-button.tsx'
import { Drawer } from '../../parts/dialog.tsx'
import { formatDuration } from '../../parts/duration.ts'
import { Facts } from '../../parts/facts.tsx'
import { useFilters } from '../../parts/filter-bar.tsx'
import { Loading } from '../../parts/loading.tsx'
import { notify } from '../../parts/notices.tsx'
import { Problem } from '../../parts/problem.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import { Time } from '../../parts/time.tsx'
import { refresh, useRead } from '../../reading.ts'
import { useCommunityPath, useRole } from '../../session.ts'
import type { DeliveryDetail } from '../../wire.ts'
import { attemptText, deliveryLabel, eventName, reasonText, waitText } from '../webhooks/words.ts'
import classes from './delivery-drawer.module.css'
import { POLL_INTERVAL_MS } from './poll-interval.ts'

/** One delivery with its attempts, beside the list; its number is in the address. */
export function DeliveryDrawer({ subscriptionId }: { subscriptionId: number }) {
  const [{ delivery: id }, change] = useFilters<{ delivery?: string | undefined }>()
  const path = useCommunityPath()(`/deliveries/${id}`)
  const { data, isError, error, refetch } = useRead<DeliveryDetail>(id ? path : undefined, undefined, POLL_INTERVAL_MS)
  const shown = data && data.subscription_id === subscriptionId ? data : undefined
  return (
    <Drawer
      opened={id !== undefined}
      onClose={() => change({ delivery: undefined })}
      title={shown ? eventName(shown.event_type) : t`Delivery`}
      size="lg"
    >
      {isError && !data && <Problem error={error} again={() => void refetch()} />}
      {!data && !isError && <Loading label={t`Delivery`} height={240} />}
      {data && !shown && (
        <Text>
          <Trans>This delivery belongs to another webhook.</Trans>
        </Text>
      )}
      {shown && <Shown delivery={shown} path={path} />}
    </Drawer>
  )
}

function Shown({ delivery, path }: { delivery: DeliveryDetail; path: string }) {
  const { isOwner } = useRole()
  return (
    <Stack gap="lg">
      <Facts
        facts={[
          [t`Status`, <StatusBadge key="status" status={delivery.status} {...deliveryLabel(delivery.status)} />],
          [t`Held back because`, delivery.held_reason && reasonText(delivery.held_reason)],
          [t`Type`, <Code key="type">{delivery.event_type}</Code>],
          [t`Number`, <Code key="number">{delivery.event_id}</Code>],
          [t`Happened`, <Time key="at" value={delivery.created_at} />],
          [t`Waits because`, waitText(delivery.waits_for)],
          [t`Next attempt`, delivery.next_attempt_at && <Time value={delivery.next_attempt_at} />],
          [t`Finished`, delivery.finished_at && <Time value={delivery.finished_at} />],
        ]}
      />
      {isOwner && <Resend delivery={delivery} path={path} />}
      <section>
        <Title order={3} mb="sm">
          <Trans>Attempts</Trans>
        </Title>
        {delivery.attempts.length === 0 ? (
          <Text c="dimmed">
            <Trans>None yet.</Trans>
          </Text>
        ) : (
          <Attempts attempts={delivery.attempts} />
        )}
      </section>
      <section>
        <Title order={3} mb="sm">
          <Trans>What is sent</Trans>
        </Title>
        <Code block>{JSON.stringify(delivery.body, null, 2)}</Code>
      </section>
    </Stack>
  )
}

/** Harmless: receivers tell a repetition by its number. So nobody is asked. */
function Resend({ delivery, path }: { delivery: DeliveryDetail; path: string }) {
  const communityPath = useCommunityPath()
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>()
  const resend = async () => {
    setBusy(true)
    setError(undefined)
    try {
      await api.post(`${path}/resend`)
      notify(t`It is sent again`)
      await refresh(path, communityPath(`/webhooks/${delivery.subscription_id}`))
    } catch (thrown) {
      setError(thrown)
    } finally {
      setBusy(false)
    }
  }
  return (
    <Stack gap="sm" align="flex-start">
      <BusyButton loading={busy} onClick={() => void resend()}>
        <Trans>Send again</Trans>
      </BusyButton>
      {error !== undefined && <Problem error={error} />}
    </Stack>
  )
}

function Attempts({ attempts }: { attempts: DeliveryDetail['attempts'] }) {
  return (
    <ol className={classes.attempts} aria-label={t`Attempts, the newest first`}>
      {attempts.map((attempt) => (
        <li key={`${attempt.at} ${attempt.number}`} className={classes.attempt}>
          <Group gap="sm" justify="space-between">
            <Text fw={600}>{attemptText(attempt)}</Text>
            <Badge color={attempt.error_kind === null ? 'green' : 'red'}>{attempt.status ?? t`No answer`}</Badge>
          </Group>
          <Text size="sm" c="dimmed">
            <Took attempt={attempt} />
          </Text>
          {attempt.error && attempt.error_kind !== 'status' && <Code block>{attempt.error}</Code>}
          {attempt.response && (
            <details>
              <summary>
                <Trans>What the receiver answered</Trans>
              </summary>
              <Code block>{attempt.response}</Code>
            </details>
          )}
        </li>
      ))}
    </ol>
  )
}

function Took({ attempt: { at, duration_ms, number } }: { attempt: DeliveryDetail['attempts'][number] }) {
  const [duration, attempt] = [formatDuration(duration_ms), formatNumber(number)]
  return (
    <Trans>
      <Time value={at} />, took {duration}, attempt {attempt}
    </Trans>
  )
}
