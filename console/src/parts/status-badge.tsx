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
const LOOKS: Record<string, Look> = {
  active: GOOD,
  completed: GOOD,
  delivered: GOOD,
  succeeded: GOOD,
  healthy: GOOD,
  pending: WAITING,
  retrying: WAITING,
  invited: WAITING,
  paused: HELD,
  suspended: HELD,
  held: HELD,
  hidden: HELD,
  failing: ['yellow', 'warning'],
  failed: BAD,
  disabled: BAD,
  revoked: BAD,
  reversed: OVER,
  inactive: OVER,
  closed: OVER,
  left: OVER,
  erased: OVER,
  expired: OVER,
}

const WORDS: Record<string, MessageDescriptor> = {
  active: msg`Active`,
  completed: msg`Completed`,
  delivered: msg`Delivered`,
  succeeded: msg`Succeeded`,
  healthy: msg`Healthy`,
  pending: msg`Pending`,
  retrying: msg`Retrying`,
  invited: msg`Invited`,
  paused: msg`Paused`,
  suspended: msg`Suspended`,
  held: msg`Held`,
  hidden: msg`Hidden`,
  failing: msg`Failing`,
  failed: msg`Failed`,
  disabled: msg`Disabled`,
  revoked: msg`Revoked`,
  reversed: msg`Reversed`,
  inactive: msg`Inactive`,
  closed: msg`Closed`,
  left: msg`Left`,
  erased: msg`Erased`,
  expired: msg`Expired`,
}

/** A status as a word with a sign of its own: colour alone tells nothing to many people. */
export function StatusBadge({ status, label, look }: { status: string; label?: string; look?: Look }) {
  const [color, icon] = look ?? LOOKS[status] ?? OVER
  const known = WORDS[status]
  return (
    <Badge color={color} leftSection={<Icon name={icon} size={13} />}>
      {label ?? (known ? translate(known) : status)}
    </Badge>
  )
}
