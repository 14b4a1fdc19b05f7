import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { formatNumber } from '../../language/formats.ts'
import { Icon } from '../../parts/icons.tsx'
import { LinkText } from '../../parts/links.tsx'
import { Panel } from '../../parts/panel.tsx'
import { useCommunity } from '../../session.ts'
import classes from './first-steps.module.css'
import type { StepsTaken } from '../../wire.ts'

/** What is left to do until a partner's first credit has arrived. */
export function FirstSteps({ steps }: { steps: StepsTaken }) {
  const { slug } = useCommunity()
  const list = [
    {
      done: steps.has_members,
      title: (
        <LinkText to="/$slug/members" params={{ slug }}>
          <Trans>Add the members</Trans>
        </LinkText>
      ),
      text: t`One by one, or all at once from a spreadsheet.`,
    },
    {
      done: steps.has_partner,
      title: (
        <LinkText to="/$slug/partners" params={{ slug }}>
          <Trans>Create a partner</Trans>
        </LinkText>
      ),
      text: t`A bank, a town hall, a care network: you choose what it may see and do.`,
    },
    {
      done: steps.has_call,
      title: t`Hand over the client id and secret`,
      text: t`This is done as soon as the partner has called for the first time.`,
    },
    {
      done: steps.has_credit,
      title: t`The first credit arrives`,
      text: t`From then on, the figures below fill up.`,
    },
  ]
  const next = list.findIndex(({ done }) => !done)
  return (
    <Panel title={t`First steps`} description={t`This list disappears when a partner’s first credit has arrived.`}>
      <ol className={classes.list}>
        {list.map(({ done, title, text }, index) => (
          <li key={text} className={classes.step} data-done={done || undefined} data-next={index === next || undefined}>
            <span className={classes.sign}>{done ? <Icon name="check" /> : formatNumber(index + 1)}</span>
            <span>
              <span className={classes.title}>{title}</span>{' '}
              <span className={classes.state}>{done ? t`Done` : ''}</span>
              <br />
              <span className={classes.text}>{text}</span>
            </span>
          </li>
        ))}
      </ol>
    </Panel>
  )
}
