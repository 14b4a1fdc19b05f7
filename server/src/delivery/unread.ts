import type { DueSubscription } from '../postgres/across-communities.ts'
import type { DuePlace } from './read-due.ts'

/** A subscription with something due; of what has a row, behind that place if one is named. */
export interface Due extends DueSubscription {
  after?: DuePlace | undefined
}

/**
 * Subscriptions that had more due than was read, and where to read on. What is due is asked for from its beginning only
 * now and then: there lie all that were delivered and have not been cleaned up yet, which every look has to pass. What
 * comes due before that place waits for such a look.
 */
export interface Unread {
  note(key: string, due: Due | undefined): void
  has(key: string): boolean
  isEmpty(): boolean
  all(): Due[]
  /** Of a community, or of all. */
  forget(communityId: number | undefined): void
}

export function rememberUnread(): Unread {
  const byKey = new Map<string, Due>()
  return {
    note(key, due) {
      if (due) byKey.set(key, due)
      else byKey.delete(key)
    },
    has: (key) => byKey.has(key),
    isEmpty: () => byKey.size === 0,
    all: () => [...byKey.values()],
    forget(communityId) {
      for (const [key, due] of byKey) {
        if (communityId === undefined || due.community_id === communityId) byKey.delete(key)
      }
    },
  }
}
