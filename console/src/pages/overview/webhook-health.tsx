import { plural, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { formatNumber } from '../../language/formats.ts'
import { LinkButton } from '../../parts/links.tsx'
import { Panel } from '../../parts/panel.tsx'
import { StatusBadge } from '../../parts/status-badge.tsx'
import { useCommunity } from '../../session.ts'
import type { Count, WebhookCounts } from '../../wire.ts'
import classes from './webhook-health.module.css'

/** Whether what happens here reaches the partners. */
export function WebhookHealth({ webhooks }: { webhooks: WebhookCounts }) {
  const { slug } = useCommunity()
  const healthy = webhooks.active - webhooks.failing
  const states = [
    { status: 'healthy', number: healthy },
    { status: 'failing', number: webhooks.failing },
    { status: 'paused', number: webhooks.paused },
    { status: 'disabled', number: webhooks.disabled },
  ].filter(({ number }) => number > 0)
  return (
    <Panel
      title={t`Webhooks`}
      description={t`Subscriptions through which partners learn what happens here.`}
      actions={
        <LinkButton variant="default" to="/$slug/webhooks" params={{ slug }}>
          <Trans>All webhooks</Trans>
        </LinkButton>
      }
    >
      {states.length === 0 ? (
        <p className={classes.line}>
          <Trans>No webhooks yet. Partners subscribe through the API, or you add one for them.</Trans>
        </p>
      ) : (
        <>
          <ul className={classes.states}>
            {states.map(({ status, number }) => (
              <li key={status}>
                <span className={classes.number}>{formatNumber(number)}</span> <StatusBadge status={status} />
              </li>
            ))}
          </ul>
          <p className={classes.line}>{waitingText(webhooks.waiting)}</p>
        </>
      )}
    </Panel>
  )
}

function waitingText({ count, more }: Count): string {
  if (count === 0) return t`Nothing waits to be sent.`
  const number = formatNumber(count)
  if (more) return t`More than ${number} deliveries wait to be sent.`
  return plural(count, { one: '# delivery waits to be sent.', other: '# deliveries wait to be sent.' })
}
