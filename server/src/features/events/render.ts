import { toHours } from '../../core/hours.ts'
import type { Scope } from '../../core/scopes.ts'
import type { EventType } from './event-types.ts'

export interface StoredEvent {
  type: EventType
  /** The partner that caused it. */
  partner_id: number | null
  data: Record<string, unknown>
  /** Whether partners can see now what the event is about: a member, or a listing. */
  subject_visible: boolean
}

/** Events about resources that partners can no longer see. */
export const GONE_TYPES: readonly EventType[] = ['user.left', 'user.erased', 'listing.closed']

/** Fields of a credit that are sent only to the partner that made it. */
const OWN_FIELDS = ['transaction_id', 'reference', 'reversal_reference', 'note', 'settled_on'] as const

/**
 * Delayed events about a member who has since hidden or left, or about a listing that was closed, are withheld, except for
 * the partner's own credits.
 */
export function isConcealed({ type, partner_id, subject_visible }: StoredEvent, partnerId: number): boolean {
  return !subject_visible && !GONE_TYPES.includes(type) && partner_id !== partnerId
}

/** Renders the fields that this recipient may read. */
export function renderEvent(
  event: StoredEvent,
  recipient: { partnerId: number; scopes: readonly Scope[] },
): Record<string, unknown> {
  const { data } = event
  if (event.type.startsWith('user.')) {
    const { email, ...rest } = data
    return email !== undefined && recipient.scopes.includes('users.pii') ? { ...rest, email } : rest
  }
  if (!event.type.startsWith('wallet.')) return data
  const { user_id, version, balance_centihours, centihours } = data as Record<string, number>
  const isOwn = event.partner_id !== null && event.partner_id === recipient.partnerId
  return {
    user_id,
    // A partner hears of its own credits to a member who has hidden since, but not what the member has, nor by the version
    // how often that changed.
    ...(event.subject_visible && { balance_hours: toHours(balance_centihours!), version }),
    ...(isOwn && {
      ...Object.fromEntries(OWN_FIELDS.filter((field) => field in data).map((field) => [field, data[field]])),
      hours: toHours(centihours!),
    }),
  }
}
