import { dayOf } from '../../parts/day.ts'
import type { ListedMember } from '../../wire.ts'

/**
 * Until the first exchange the service gives the day of joining. It does not say which of the two it is, so an exchange
 * on that very day is not told apart.
 */
export function hasOnlyJoined(
  { last_active_on, joined_at }: Pick<ListedMember, 'last_active_on' | 'joined_at'>,
  zone: string,
): boolean {
  return last_active_on <= dayOf(joined_at, zone)
}
