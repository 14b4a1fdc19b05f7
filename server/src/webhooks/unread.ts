import type { DueSubscription } from '../db/across-communities.ts'
import type { DuePlace } from './delivery-queries.ts'

/** A subscription that had more due than was read. */
export interface UnreadSubscription {
  subscription: DueSubscription
  /** The last that was read, if any was. */
  after: DuePlace | undefined
}

/**
 * Where to read on. What is due is asked for from its beginning only now and then: there lie all that were delivered and
 * have not been cleaned up yet, which every look has to pass. What comes due before that place waits for such a look.
 */
export interface Unread {
  note(key: string, unread: UnreadSubscription | undefined): void
  has(key: string): boolean
  isEmpty(): boolean
  all(): UnreadSubscription[]
  forgetAll(): void
}

export function rememberUnread(): Unread {
  const byKey = new Map<string, UnreadSubscription>()
  return {
    note(key, unread) {
      if (unread) byKey.set(key, unread)
      else byKey.delete(key)
    },
    has: (key) => byKey.has(key),
    isEmpty: () => byKey.size === 0,
    all: () => [...byKey.values()],
    forgetAll: () => byKey.clear(),
  }
}
