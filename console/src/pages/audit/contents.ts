import { msg, plural } from '@lingui/core/macro'
import type { MessageDescriptor } from '@lingui/core'
import { formatLocale } from '../../language/formats.ts'
import { lastMomentBefore } from '../../parts/day.ts'
import { formatHours } from '../../parts/hours.tsx'
import type { AuditRecord, Role } from '../../wire.ts'
import { fieldList } from './field-names.ts'
import { it, when, who } from './placeholders.ts'

type Content = (entry: AuditRecord) => MessageDescriptor | undefined

/** Sentences with what was moved or changed, where the entry says it. Undefined: the plain sentence has to do. */
const CONTENTS: Record<string, Content> = {
  'members.email_reads': ({ detail }) => {
    const [addresses, calls] = [Number(detail['addresses']), Number(detail['calls'])]
    return msg`${who} read ${plural(addresses, { one: '# email address', other: '# email addresses' })} in ${plural(calls, { one: '# call', other: '# calls' })}, last ${when}`
  },
  'members.email_read': ({ member_ids }) => {
    const addresses = member_ids?.length ?? 0
    return msg`${who} read ${plural(addresses, { one: '# email address', other: '# email addresses' })}`
  },
  'exchange.recorded': ({ transfer }) => (transfer ? recorded(transfer) : undefined),
  'transfer.reversed': ({ transfer }) => (transfer ? takenBack(transfer) : undefined),
  'balance.adjusted': ({ transfer }) => (transfer ? adjusted(transfer) : undefined),
  'members.imported': ({ detail }) => {
    const rows = importedRows(detail)
    return rows === '' ? msg`${who} imported members: nothing new` : msg`${who} imported members: ${rows}`
  },
  'listings.imported': ({ detail }) => {
    const rows = importedRows(detail)
    return rows === '' ? msg`${who} imported listings: nothing new` : msg`${who} imported listings: ${rows}`
  },
  'member.changed': ({ detail }) => {
    const fields = changedFields(detail)
    return fields === undefined ? undefined : msg`${who} changed ${fields} of the member ${it}`
  },
  'listing.updated': ({ detail }) => {
    const fields = changedFields(detail)
    return fields === undefined ? undefined : msg`${who} changed ${fields} of the listing ${it}`
  },
  'partner.changed': ({ detail }) => {
    if (detail['status'] === 'suspended') return msg`${who} suspended the partner ${it}`
    if (detail['status'] === 'active') return msg`${who} resumed the partner ${it}`
    const fields = fieldList(Object.keys(detail))
    return Object.keys(detail).length === 0 ? undefined : msg`${who} changed ${fields} of the partner ${it}`
  },
  'community.changed': ({ detail }) => {
    const fields = fieldList(Object.keys(detail))
    return msg`${who} changed ${fields} of the community`
  },
  'category.renamed': ({ detail }) => {
    const [before, after] = [String(detail['from']), String(detail['to'])]
    return msg`${who} renamed the category ${before} to ${after}`
  },
  'admin.role_changed': ({ detail }) => MADE[detail['role'] as Role],
  'admin.invited': ({ detail }) => INVITED[detail['role'] as Role],
  'client.expiry_changed': ({ detail }) => {
    if (detail['expires_at'] === 'never') return msg`${who} let the credentials ${it} work without an expiry date`
    return msg`${who} let the credentials ${it} expire on ${when}`
  },
  'subscription.replayed': ({ detail }) => {
    const count = Number(detail['deliveries'])
    return msg`${plural(count, {
      one: `${who} sent # event to the webhook of ${it} again`,
      other: `${who} sent # events to the webhook of ${it} again`,
    })}`
  },
  'subscription.failures_resent': ({ detail }) => {
    const count = Number(detail['deliveries'])
    return msg`${plural(count, {
      one: `${who} sent # failed delivery to the webhook of ${it} again`,
      other: `${who} sent # failed deliveries to the webhook of ${it} again`,
    })}`
  },
}

const MADE: Record<Role, MessageDescriptor> = {
  owner: msg`${who} made ${it} an owner`,
  manager: msg`${who} made ${it} a manager`,
  viewer: msg`${who} made ${it} a viewer`,
}

const INVITED: Record<Role, MessageDescriptor> = {
  owner: msg`${who} invited ${it} as an owner`,
  manager: msg`${who} invited ${it} as a manager`,
  viewer: msg`${who} invited ${it} as a viewer`,
}

/** The time that a sentence names: the last call of a day, or the last day of credentials, which end when it is over. */
export function whenOf({
  detail: { last_at, expires_at },
}: AuditRecord): { value: string; as: 'relative' | 'date' } | undefined {
  if (typeof last_at === 'string') return { value: last_at, as: 'relative' }
  const isTime = typeof expires_at === 'string' && !Number.isNaN(Date.parse(expires_at))
  return isTime ? { value: lastMomentBefore(expires_at), as: 'date' } : undefined
}

export function contentOf(entry: AuditRecord): MessageDescriptor | undefined {
  return CONTENTS[entry.action]?.(entry)
}

type Transfer = NonNullable<AuditRecord['transfer']>

/** A member who was erased has no name. */
function recorded(transfer: Transfer): MessageDescriptor {
  const { hours, giver, receiver } = namesOf(transfer)
  if (giver && receiver) return msg`${who} recorded ${hours} to ${receiver} from ${giver} (number ${it})`
  if (receiver) return msg`${who} recorded ${hours} to ${receiver} (number ${it})`
  if (giver) return msg`${who} recorded ${hours} from ${giver} (number ${it})`
  return msg`${who} recorded ${hours} (number ${it})`
}

function takenBack(transfer: Transfer): MessageDescriptor {
  const { hours, giver, receiver } = namesOf(transfer)
  if (giver && receiver) return msg`${who} reversed ${hours} to ${receiver} from ${giver} (number ${it})`
  if (receiver) return msg`${who} reversed ${hours} to ${receiver} (number ${it})`
  if (giver) return msg`${who} reversed ${hours} from ${giver} (number ${it})`
  return msg`${who} reversed ${hours} (number ${it})`
}

function adjusted({ hours, giver, receiver }: Transfer): MessageDescriptor {
  const member = (receiver ?? giver)?.name
  const change = formatHours(receiver ? hours : -hours, true)
  return member
    ? msg`${who} adjusted the balance of ${member} by ${change}`
    : msg`${who} adjusted the balance of a member by ${change}`
}

function namesOf({ hours, giver, receiver }: Transfer) {
  return { hours: formatHours(hours), giver: giver?.name, receiver: receiver?.name }
}

/** '5 added, 1 changed'; empty if there is nothing to tell. */
function importedRows(detail: AuditRecord['detail']): string {
  const [added, changed, refused] = ['added', 'changed', 'refused'].map((name) => Number(detail[name] ?? 0))
  const parts = [
    added && plural(added, { one: '# added', other: '# added' }),
    changed && plural(changed, { one: '# changed', other: '# changed' }),
    refused && plural(refused, { one: '# left out', other: '# left out' }),
  ].filter((part) => typeof part === 'string')
  return new Intl.ListFormat(formatLocale(), { type: 'unit' }).format(parts)
}

function changedFields({ fields }: AuditRecord['detail']): string | undefined {
  return Array.isArray(fields) && fields.length > 0 ? fieldList(fields as string[]) : undefined
}
