import type { Completion } from './complete-deliveries.ts'

/** As long as what is stored of a success may be old. */
const FRESH_MS = 60_000
/** Subscriptions remembered at once; to forget one costs a statement. */
const ENTRIES_MAX = 10_000

export interface Health {
  subscriptionId: number
  ok: boolean
}

/**
 * What completions tell of their receivers that has not been stored lately. Failures always: whether they are new is for
 * the database to say. What another node noted meanwhile is corrected within a minute.
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

/** One success among them says that the receiver lives. */
function healthOf(completions: Completion[]): Health[] {
  const bySubscription = new Map<number, boolean>()
  for (const { subscriptionId, attempt } of completions) {
    if (attempt) bySubscription.set(subscriptionId, attempt.outcome.ok || (bySubscription.get(subscriptionId) ?? false))
  }
  return [...bySubscription].map(([subscriptionId, ok]) => ({ subscriptionId, ok }))
}
