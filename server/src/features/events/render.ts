import { toHours } from '../../core/hours.ts'
import type { Scope } from '../../core/scopes.ts'
import type { EventType } from './event-types.ts'

export interface StoredEvent {
  type: EventType
  /** The partner that caused it. */
  partner_id: number | null
  data: Record<string, unknown>
  /** Whether the member it tells of can be seen by partners now; true of events that tell of none. */
  member_visible: boolean
}

/** What partners are told of whoever they can no longer see. */
export const FAREWELLS: readonly EventType[] = ['user.left', 'user.erased', 'listing.closed']

/** Facts of a credit that go only to the partner that made it. */
const OWN_FIELDS = ['transaction_id', 'reference', 'reversal_reference', 'note', 'settled_on'] as const

/** Of a member who hid or left since, partners learn late no more than they could still ask for: their own credits. */
export function isConcealed({ type, partner_id, member_visible }: StoredEvent, partnerId: number): boolean {
  return !member_visible && !FAREWELLS.includes(type) && partner_id !== partnerId
}

/** What this recipient may know of the event. */
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
    balance_hours: toHours(balance_centihours!),
    version,
    ...(isOwn && {
      ...Object.fromEntries(OWN_FIELDS.filter((field) => field in data).map((field) => [field, data[field]])),
      hours: toHours(centihours!),
    }),
  }
}
