import type { MessageDescriptor } from '@lingui/core'
import { msg } from '@lingui/core/macro'
import { Badge } from '@mantine/core'
import { translate } from '../language/translate.ts'
import { Icon, type IconName } from './icons.tsx'

type Look = readonly [color: 'green' | 'gray' | 'yellow' | 'red' | 'blue', icon: IconName]

const GOOD: Look = ['green', 'check']
const WAITING: Look = ['blue', 'clock']
const HELD: Look = ['yellow', 'pause']
const BAD: Look = ['red', 'cross']
const OVER: Look = ['gray', 'dot']

/** Known words of the service. A word that is missing here is shown neutrally; add it. */
const STATUSES: Record<string, { look: Look; word: MessageDescriptor }> = {
  active: { look: GOOD, word: msg`Active` },
  completed: { look: GOOD, word: msg`Completed` },
  delivered: { look: GOOD, word: msg`Delivered` },
  succeeded: { look: GOOD, word: msg`Succeeded` },
  healthy: { look: GOOD, word: msg`Healthy` },
  pending: { look: WAITING, word: msg`Pending` },
  retrying: { look: WAITING, word: msg`Retrying` },
  invited: { look: WAITING, word: msg`Invited` },
  paused: { look: HELD, word: msg`Paused` },
  suspended: { look: HELD, word: msg`Suspended` },
  held: { look: HELD, word: msg`Held` },
  hidden: { look: HELD, word: msg`Hidden` },
  failing: { look: ['yellow', 'warning'], word: msg`Failing` },
  failed: { look: BAD, word: msg`Failed` },
  disabled: { look: BAD, word: msg`Disabled` },
  revoked: { look: BAD, word: msg`Revoked` },
  reversed: { look: OVER, word: msg`Reversed` },
  inactive: { look: OVER, word: msg`Inactive` },
  closed: { look: OVER, word: msg`Closed` },
  left: { look: OVER, word: msg`Left` },
  erased: { look: OVER, word: msg`Erased` },
  expired: { look: OVER, word: msg`Expired` },
}

/** A status as a word with a sign of its own: colour alone tells nothing to many people. */
export function StatusBadge({ status, label, look }: { status: string; label?: string; look?: Look }) {
  const known = STATUSES[status]
  const [color, icon] = look ?? known?.look ?? OVER
  return (
    <Badge color={color} leftSection={<Icon name={icon} size={13} />}>
      {label ?? (known ? translate(known.word) : status)}
    </Badge>
  )
}
