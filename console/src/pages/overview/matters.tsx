import type { MessageDescriptor } from '@lingui/core'
import { msg, plural, t } from '@lingui/core/macro'
import { Plural, Trans } from '@lingui/react/macro'
import type { ReactNode } from 'react'
import { formatNumber } from '../../language/formats.ts'
import { translate } from '../../language/translate.ts'
import { formatHours } from '../../parts/hours.tsx'
import { Time } from '../../parts/time.tsx'
import type { Attention, AttentionKind } from '../../wire.ts'

export type AttentionExample = Attention['examples'][number]

interface Matter {
  /** What is the matter, with the number. */
  title: (count: number) => string
  /** What to do about it. */
  hint?: MessageDescriptor
  /** What an example is called, where the service has a code for it, not a name that somebody typed. */
  called?: (example: AttentionExample) => string | undefined
  /** The pages that an example can lead to. */
  to?: '/$slug/webhooks/$id' | '/$slug/partners/$id' | '/$slug/members/$id'
  about?: (example: AttentionExample) => ReactNode
}

const MATTERS: Record<AttentionKind, Matter> = {
  webhooks_failing: {
    title: (count) => plural(count, { one: '# webhook is failing', other: '# webhooks are failing' }),
    hint: msg`Ask the partner to look at its receiver; then send again what failed.`,
    to: '/$slug/webhooks/$id',
    about: ({ status, since }) => since && <FailingSince at={since} isDisabled={status === 'disabled'} />,
  },
  hours_nearly_used: {
    title: (count) =>
      plural(count, {
        one: '# partner has nearly used its hours of today',
        other: '# partners have nearly used their hours of today',
      }),
    hint: msg`Credits beyond the limit are rejected until midnight. You can allow more on the partner’s page.`,
    to: '/$slug/partners/$id',
    about: ({ hours, limit_hours }) => {
      const [used, limit] = [formatHours(hours ?? 0), formatHours(limit_hours ?? 0)]
      return t`${used} of ${limit}`
    },
  },
  calls_limited: {
    title: (count) =>
      plural(count, {
        one: '# partner sent too many calls in the last hour',
        other: '# partners sent too many calls in the last hour',
      }),
    hint: msg`What was above the limit was rejected. You can allow more calls per minute on the partner’s page.`,
    to: '/$slug/partners/$id',
    about: ({ calls = 0 }) => plural(calls, { one: '# rejected', other: '# rejected' }),
  },
  credentials_expiring: {
    title: (count) =>
      plural(count, {
        one: '# credential expires soon, or has just expired',
        other: '# credentials expire soon, or have just expired',
      }),
    hint: msg`Give the partner new ones, or choose a later day.`,
    to: '/$slug/partners/$id',
    about: ({ since, status }) => since && <Expiry at={since} isPast={status === 'expired'} />,
  },
  backup_old: {
    title: (count) =>
      plural(count, {
        one: '# backup is missing or more than a week old',
        other: '# backups are missing or more than a week old',
      }),
    hint: msg`Make one with: npx hourbank backup FILE`,
    called: () => t`Backup`,
    about: ({ since }) => (since ? <Last at={since} /> : t`none yet`),
  },
  import_refused: {
    title: (count) => plural(count, { one: '# import left rows out', other: '# imports left rows out' }),
    hint: msg`Correct these rows and import the file again: rows that were imported stay as they are.`,
    called: ({ name }) => IMPORTED[name] && translate(IMPORTED[name]),
    about: ({ refused = 0, since }) => since && <LeftOut count={refused} at={since} />,
  },
  second_factor_missing: {
    title: (count) =>
      plural(count, { one: '# administrator has no second factor', other: '# administrators have no second factor' }),
    hint: msg`With only a password, anyone who learns it can sign in. It is set up on the account page.`,
  },
  members_at_limit: {
    title: (count) =>
      plural(count, {
        one: '# member is at the limit and cannot spend hours',
        other: '# members are at the limit and cannot spend hours',
      }),
    hint: msg`Help them to give something, or adjust the balance.`,
    to: '/$slug/members/$id',
    about: ({ hours }) => formatHours(hours ?? 0),
  },
  members_idle: {
    title: (count) =>
      plural(count, {
        one: '# member has been inactive for six months',
        other: '# members have been inactive for six months',
      }),
    hint: msg`No hour was given or received. Ask them whether they still want to take part.`,
    to: '/$slug/members/$id',
    about: ({ hours, since }) => <IdleSince hours={formatHours(hours ?? 0)} at={since} />,
  },
}

const IMPORTED: Record<string, MessageDescriptor> = { members: msg`Members`, listings: msg`Listings` }

/** During an upgrade, a newer node may send a kind that this page does not know. */
export function matterOf(kind: AttentionKind): Matter {
  return MATTERS[kind] ?? { title: (count) => `${kind}: ${formatNumber(count)}` }
}

/** The service stops counting at this number. */
export function minimumText(count: number): string {
  const number = formatNumber(count)
  return t`There are more than ${number}.`
}

/** How many there are beside the examples. */
export function restText(rest: number, isMinimum: boolean): string {
  const number = formatNumber(rest)
  return isMinimum ? t`and more than ${number} more` : t`and ${number} more`
}

function FailingSince({ at, isDisabled }: { at: string; isDisabled: boolean }) {
  const time = <Time value={at} />
  return isDisabled ? <Trans>disabled since {time}</Trans> : <Trans>failing since {time}</Trans>
}

function LeftOut({ count, at }: { count: number; at: string }) {
  return (
    <Trans>
      <Plural value={count} one="# left out" other="# left out" /> since <Time value={at} />
    </Trans>
  )
}

function Last({ at }: { at: string }) {
  return (
    <Trans>
      last <Time value={at} />
    </Trans>
  )
}

function Expiry({ at, isPast }: { at: string; isPast: boolean }) {
  const time = <Time value={at} as="relative" />
  return isPast ? <Trans>expired {time}</Trans> : <Trans>expires {time}</Trans>
}

function IdleSince({ hours, at }: { hours: string; at: string | undefined }) {
  if (!at) return hours
  return (
    <Trans>
      {hours}, inactive since <Time value={at} as="date" />
    </Trans>
  )
}
