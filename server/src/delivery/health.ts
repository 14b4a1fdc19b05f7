import type { Completion } from './record-completions.ts'

/** How old the stored time of a success may be. */
const FRESH_MS = 60_000
/** Cached subscriptions; a miss costs one statement. */
const ENTRIES_MAX = 10_000

export interface Health {
  subscriptionId: number
  ok: boolean
}

/**
 * Returns a filter for health changes that need to be stored: all failures, because only the database knows whether they
 * are the first, and one success per minute.
 */
export function watchHealth(): (communityId: number, completions: Completion[], nowMs: number) => Health[] {
  const noted = new Map<string, number>()

  return (communityId, completions, nowMs) =>
    healthOf(completions).filter(({ subscriptionId, ok }) => {
      const key = `${communityId}/${subscriptionId}`
      const notedMs = noted.get(key)
      if (ok && notedMs !== undefined && nowMs - notedMs < FRESH_MS) return false
      if (noted.size >= ENTRIES_MAX) noted.clear()
      if (ok) noted.set(key, nowMs)
      else noted.delete(key)
      return true
    })
}

/** One success among them is enough. */
function healthOf(completions: Completion[]): Health[] {
  const bySubscription = new Map<number, boolean>()
  for (const { subscriptionId, attempt } of completions) {
    if (attempt) bySubscription.set(subscriptionId, attempt.outcome.ok || (bySubscription.get(subscriptionId) ?? false))
  }
  return [...bySubscription].map(([subscriptionId, ok]) => ({ subscriptionId, ok }))
}
