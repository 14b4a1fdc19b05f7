import { formatHours } from '../../parts/hours.tsx'
import type { AuditRecord } from '../../wire.ts'

const count = new Intl.NumberFormat('en-GB')

/** Where the name of the subject stands in a sentence. */
export const IT = '…'

/** Fields of records as people call them; others by their own name. */
const FIELDS: Record<string, string> = {
  external_id: 'number',
  joined_at: 'date of joining',
  centihours: 'hours',
  rate_limit_per_minute: 'calls per minute',
  daily_limit_centihours: 'hours per day',
  allowed_networks: 'allowed addresses',
  target_host: 'receiver',
  event_types: 'events',
  lower_limit_hours: 'lower limit',
  credit_limit_hours: 'largest credit',
}

type Content = (entry: AuditRecord) => string | undefined

/** Sentences with what was moved or changed, where the entry says it. Undefined: the plain sentence has to do. */
const CONTENTS: Record<string, Content> = {
  'members.email_reads': ({ detail }) => {
    const [addresses, calls] = [Number(detail['addresses']), Number(detail['calls'])]
    return `read ${counted(addresses, 'email address', 'email addresses')} in ${counted(calls, 'call', 'calls')}, last `
  },
  'members.email_read': ({ member_ids }) =>
    `read ${counted(member_ids?.length ?? 0, 'email address', 'email addresses')}`,
  'exchange.recorded': ({ transfer }) => (transfer ? `recorded ${moved(transfer)} (number ${IT})` : undefined),
  'transfer.reversed': ({ transfer }) => (transfer ? `took back ${moved(transfer)} (number ${IT})` : undefined),
  'balance.adjusted': ({ transfer }) => {
    if (!transfer) return undefined
    const { receiver, giver, hours } = transfer
    const member = (receiver ?? giver)?.name ?? 'a member'
    return `adjusted the balance of ${member} by ${formatHours(receiver ? hours : -hours, true)}`
  },
  'members.imported': ({ detail }) => imported('members', detail),
  'listings.imported': ({ detail }) => imported('listings', detail),
  'member.changed': ({ detail }) => changed(detail['fields'], 'the member'),
  'listing.updated': ({ detail }) => changed(detail['fields'], 'the listing'),
  'partner.changed': ({ detail }) => {
    if (detail['status'] === 'suspended') return `suspended the partner ${IT}`
    if (detail['status'] === 'active') return `resumed the partner ${IT}`
    return changed(Object.keys(detail), 'the partner')
  },
  'community.changed': ({ detail }) => `changed ${fieldList(Object.keys(detail))} of the community`,
  'category.renamed': ({ detail }) => `renamed the category ${detail['from']} to ${detail['to']}`,
  'admin.role_changed': ({ detail }) => `made ${IT} ${role(detail)}`,
  'admin.invited': ({ detail }) => `invited ${IT} as ${role(detail)}`,
  'client.expiry_changed': ({ detail }) =>
    detail['expires_at'] === 'never'
      ? `let the credentials ${IT} last without an end`
      : `let the credentials ${IT} expire on ${String(detail['expires_at']).slice(0, 'YYYY-MM-DD'.length)}`,
  'subscription.replayed': ({ detail }) =>
    `sent ${counted(Number(detail['deliveries']), 'event', 'events')} to the webhook of ${IT} again`,
  'subscription.failures_resent': ({ detail }) =>
    `sent ${counted(Number(detail['deliveries']), 'failed delivery', 'failed deliveries')} to the webhook of ${IT} again`,
}

export function contentOf(entry: AuditRecord): string | undefined {
  const text = CONTENTS[entry.action]?.(entry)
  // Ids say nothing to people; whose credentials they are does.
  const { kind, partner } = entry.subject
  return text && kind === 'client' && partner ? `${text} of ${partner}` : text
}

function counted(number: number, one: string, many: string): string {
  return `${count.format(number)} ${number === 1 ? one : many}`
}

function moved({ hours, giver, receiver }: NonNullable<AuditRecord['transfer']>): string {
  const from = receiver ? `${formatHours(hours)} to ${receiver.name}` : formatHours(hours)
  return giver ? `${from} from ${giver.name}` : from
}

function imported(what: string, { added, changed: altered, refused }: AuditRecord['detail']): string {
  const parts = [
    [added, 'added'],
    [altered, 'changed'],
    [refused, 'left out'],
  ] as const
  const told = parts
    .filter(([number]) => Number(number) > 0)
    .map(([number, word]) => `${count.format(Number(number))} ${word}`)
  return `imported ${what}: ${told.join(', ') || 'nothing new'}`
}

function changed(fields: unknown, what: string): string | undefined {
  return Array.isArray(fields) && fields.length > 0
    ? `changed ${fieldList(fields as string[])} of ${what} ${IT}`
    : undefined
}

function fieldList(fields: readonly string[]): string {
  const names = fields.map((field) => FIELDS[field] ?? field.replaceAll('_', ' '))
  return names.length > 1 ? `${names.slice(0, -1).join(', ')} and ${names.at(-1)}` : (names[0] ?? 'something')
}

function role({ role: name }: AuditRecord['detail']): string {
  return name === 'owner' ? 'an owner' : `a ${String(name)}`
}
