import { Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { formatHours } from '../../parts/hours.tsx'
import { Icon } from '../../parts/icons.tsx'
import { LinkText } from '../../parts/links.tsx'
import { Name } from '../../parts/name.tsx'
import { Panel } from '../../parts/panel.tsx'
import { Time } from '../../parts/time.tsx'
import { useCommunity } from '../../session.ts'
import type { Attention as Item, AttentionKind } from '../../wire.ts'
import { countText } from '../webhooks/words.ts'
import classes from './attention.module.css'

const number = new Intl.NumberFormat('en-GB')

type AttentionExample = Item['examples'][number]

interface Words {
  /** What is the matter, after the number. */
  one: string
  many: string
  /** What to do about it. */
  hint: string
  /** The pages that an example can lead to. */
  to?: '/$slug/webhooks/$id' | '/$slug/partners/$id' | '/$slug/members/$id'
  about?: (example: AttentionExample) => ReactNode
}

const WORDS: Record<AttentionKind, Words> = {
  webhooks_failing: {
    one: 'webhook does not arrive',
    many: 'webhooks do not arrive',
    hint: 'Ask the partner to look at its receiver; then send again what failed.',
    to: '/$slug/webhooks/$id',
    about: ({ status, since }) => (
      <>
        {status} {since && <Since at={since} />}
      </>
    ),
  },
  hours_nearly_used: {
    one: 'partner has nearly used its hours of today',
    many: 'partners have nearly used their hours of today',
    hint: 'Credits beyond the limit are rejected until midnight. You can allow more on the partner’s page.',
    to: '/$slug/partners/$id',
    about: ({ hours, limit_hours }) => `${formatHours(hours ?? 0)} of ${formatHours(limit_hours ?? 0)}`,
  },
  calls_limited: {
    one: 'partner sent too many calls in the last hour',
    many: 'partners sent too many calls in the last hour',
    hint: 'What was above the limit was rejected. You can allow more calls per minute on the partner’s page.',
    to: '/$slug/partners/$id',
    about: ({ calls }) => `${number.format(calls ?? 0)} rejected`,
  },
  credentials_expiring: {
    one: 'credential expires soon, or has just expired',
    many: 'credentials expire soon, or have just expired',
    hint: 'Give the partner new ones, or choose a later day.',
    to: '/$slug/partners/$id',
    about: ({ since, status }) => (
      <>
        {status === 'expired' ? 'expired' : 'expires'} {since && <Time value={since} as="relative" />}
      </>
    ),
  },
  backup_old: {
    one: 'backup is missing or more than a week old',
    many: 'backups are old',
    hint: 'Make one with: npx hourbank backup FILE',
    about: ({ since }) =>
      since ? (
        <>
          last <Time value={since} />
        </>
      ) : (
        'none yet'
      ),
  },
  import_refused: {
    one: 'import left rows out',
    many: 'imports left rows out',
    hint: 'Correct these rows and import the file again: rows that are there already stay as they are.',
    about: ({ refused, since }) => (
      <>
        {number.format(refused ?? 0)} left out {since && <Since at={since} />}
      </>
    ),
  },
  second_factor_missing: {
    one: 'administrator has no second factor',
    many: 'administrators have no second factor',
    hint: 'With only a password, anyone who learns it can sign in. It is set up on the account page.',
  },
  members_at_limit: {
    one: 'member is at the limit and cannot spend hours',
    many: 'members are at the limit and cannot spend hours',
    hint: 'Help them to give something, or adjust the balance.',
    to: '/$slug/members/$id',
    about: ({ hours }) => formatHours(hours ?? 0),
  },
  members_idle: {
    one: 'member has been inactive for six months',
    many: 'members have been inactive for six months',
    hint: 'No hour was given or received. Ask them whether they still want to take part.',
    to: '/$slug/members/$id',
    about: ({ hours, since }) => (
      <>
        {formatHours(hours ?? 0)}, last {since && <Time value={since} as="date" />}
      </>
    ),
  },
}

/** What somebody should look at, before all figures. */
export function Attention({ items }: { items: Item[] }) {
  return (
    <Panel title="Needs attention">
      {items.length === 0 ? (
        <Text size="sm">Nothing does at the moment.</Text>
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
  const { one, many, hint } = WORDS[kind]
  const rest = count.count - examples.length
  return (
    <div>
      <Text fw={600} size="sm">
        {countText(count)} {count.count === 1 ? one : many}
      </Text>
      <Text size="sm" c="dimmed">
        {hint}
      </Text>
      <ul className={classes.examples}>
        {examples.map((example) => (
          <li key={`${example.id} ${example.client_id}`}>
            <Example kind={kind} example={example} />
          </li>
        ))}
        {rest > 0 && <li>and {count.more ? `more than ${rest}` : number.format(rest)} more</li>}
      </ul>
    </div>
  )
}

function Example({ kind, example }: { kind: AttentionKind; example: AttentionExample }) {
  const { slug } = useCommunity()
  const { to, about } = WORDS[kind]
  const name = example.name.charAt(0).toUpperCase() + example.name.slice(1)
  return (
    <>
      {to && example.id !== undefined ? (
        <LinkText inherit underline="always" to={to} params={{ slug, id: String(example.id) }}>
          <Name>{name}</Name>
        </LinkText>
      ) : (
        <Name>{name}</Name>
      )}
      {about && <>: {about(example)}</>}
    </>
  )
}

function Since({ at }: { at: string }) {
  return (
    <>
      since <Time value={at} />
    </>
  )
}
