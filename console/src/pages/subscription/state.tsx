import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Alert, Code, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { Facts } from '../../parts/facts.tsx'
import { Icon } from '../../parts/icons.tsx'
import { LinkText } from '../../parts/links.tsx'
import { Panel } from '../../parts/panel.tsx'
import { Time } from '../../parts/time.tsx'
import { useCommunity } from '../../session.ts'
import type { SubscriptionOverview } from '../../wire.ts'
import { countText, reasonText } from '../webhooks/words.ts'

/** How it stands, and why. */
export function State({ subscription }: { subscription: SubscriptionOverview }) {
  const { slug } = useCommunity()
  const { partner, client, event_types, last_success_at, failing_since } = subscription
  return (
    <Panel title={t`Status`}>
      <Stack gap="md">
        <Notes subscription={subscription} />
        <Facts
          facts={[
            [
              t`Partner`,
              <LinkText key="partner" to="/$slug/partners/$id" params={{ slug, id: String(partner.id) }}>
                {partner.name}
              </LinkText>,
            ],
            [t`Address`, <Code key="address">{subscription.target_url}</Code>],
            [t`Events`, event_types.includes('*') ? t`All` : <Code key="events">{event_types.join(', ')}</Code>],
            [t`On behalf of the client`, <Code key="client">{client.client_id}</Code>],
            [t`Since`, <Time key="since" value={subscription.created_at} />],
            [t`Last arrived`, last_success_at ? <Time key="last" value={last_success_at} /> : t`never`],
            [t`Failing since`, failing_since && <Time value={failing_since} />],
            [t`Failures in a row`, failing_since && countText(subscription.failures_in_a_row)],
            [t`Waiting to be sent`, countText(subscription.waiting)],
            [t`Held back`, subscription.held.count > 0 && countText(subscription.held)],
          ]}
        />
      </Stack>
    </Panel>
  )
}

function Notes({ subscription }: { subscription: SubscriptionOverview }) {
  const { status, status_reason, status_changed_at, partner, client, failing_since } = subscription
  const since = <Time value={status_changed_at} />
  const disabledFor = status_reason ? reasonText(status_reason) : t`No reason is known`
  const pausedFor = status_reason ? reasonText(status_reason) : t`Paused by the partner`
  return (
    <>
      {status === 'disabled' && (
        <Note color="red" title={t`Disabled`}>
          <Trans>
            {disabledFor}, {since}. Nothing is sent until an owner or the partner resumes it. What was already waiting
            is sent then. What has happened since is not: use “Send again since …” for it, within 30 days.
          </Trans>
        </Note>
      )}
      {status === 'paused' && (
        <Note color="yellow" title={t`Paused`}>
          <Trans>
            {pausedFor}, {since}. What happens meanwhile waits, and is sent afterwards.
          </Trans>
        </Note>
      )}
      {status === 'active' && failing_since && (
        <Note color="yellow" title={t`Deliveries are failing`}>
          <Trans>
            Nothing has arrived since <Time value={failing_since} />. It is retried automatically, at growing intervals.
            After five days of nothing but failures it is disabled.
          </Trans>
        </Note>
      )}
      {partner.status === 'suspended' && (
        <Note color="yellow" title={t`The partner is suspended`}>
          <Trans>Deliveries are held back, and go out when the partner is resumed.</Trans>
        </Note>
      )}
      {client.status === 'revoked' && (
        <Note color="yellow" title={t`The credentials it was made with are revoked`}>
          <Trans>Deliveries are held back. The partner has to subscribe again with other credentials.</Trans>
        </Note>
      )}
      {client.status === 'expired' && (
        <Note color="yellow" title={t`The credentials it was made with have expired`}>
          <Trans>
            Deliveries are held back, and go out when the credentials get a later day on the partner’s page.
          </Trans>
        </Note>
      )}
    </>
  )
}

function Note({ color, title, children }: { color: 'red' | 'yellow'; title: string; children: ReactNode }) {
  return (
    <Alert color={color} variant="light" title={title} icon={<Icon name="warning" />}>
      <Text size="sm">{children}</Text>
    </Alert>
  )
}
