import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Text } from '@mantine/core'
import { translate } from '../../language/translate.ts'
import { Icon } from '../../parts/icons.tsx'
import { LinkText } from '../../parts/links.tsx'
import { Name } from '../../parts/name.tsx'
import { Panel } from '../../parts/panel.tsx'
import { useCommunity } from '../../session.ts'
import type { Attention as Item, AttentionKind } from '../../wire.ts'
import classes from './attention.module.css'
import { type AttentionExample, matterOf, minimumText, restText } from './matters.tsx'

/** What somebody should look at, before all figures. */
export function Attention({ items }: { items: Item[] }) {
  return (
    <Panel title={t`Needs attention`}>
      {items.length === 0 ? (
        <Text size="sm">
          <Trans>Nothing at the moment.</Trans>
        </Text>
      ) : (
        <ul className={classes.list}>
          {items.map((item) => (
            <li key={item.kind} className={classes.item}>
              <Icon name="warning" />
              <Matter item={item} />
            </li>
          ))}
        </ul>
      )}
    </Panel>
  )
}

function Matter({ item: { kind, count, examples } }: { item: Item }) {
  const { title, hint } = matterOf(kind)
  const rest = count.count - examples.length
  return (
    <div>
      <Text fw={600} size="sm">
        {title(count.count)}
      </Text>
      <Text size="sm" c="dimmed">
        {hint && translate(hint)} {count.more && minimumText(count.count)}
      </Text>
      <ul className={classes.examples}>
        {examples.map((example) => (
          <li key={`${example.id} ${example.client_id}`}>
            <Example kind={kind} example={example} />
          </li>
        ))}
        {rest > 0 && <li>{restText(rest, count.more)}</li>}
      </ul>
    </div>
  )
}

function Example({ kind, example }: { kind: AttentionKind; example: AttentionExample }) {
  const { slug } = useCommunity()
  const { to, about, called } = matterOf(kind)
  const name = called?.(example) ?? example.name
  const who =
    to && example.id !== undefined ? (
      <LinkText inherit underline="always" to={to} params={{ slug, id: String(example.id) }}>
        <Name>{name}</Name>
      </LinkText>
    ) : (
      <Name>{name}</Name>
    )
  const what = about?.(example)
  if (!what) return who
  return (
    <Trans>
      {who}: {what}
    </Trans>
  )
}
