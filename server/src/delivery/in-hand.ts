import type { InHandPairs, SubscriptionPosition, SubscriptionKey } from '../postgres/across-communities.ts'

/** How far a subscription has been read, among what nobody has tried yet. */
export interface Reading {
  readTo: number | undefined
}

/**
 * Deliveries that a worker has read and is not done with, and how far it has read. In the database they are still due, so
 * that the next round would read them again.
 */
export interface InHand {
  /** Of what has a row there is no position. */
  take(of: SubscriptionKey, eventId: number, position: number | undefined): void
  /** What became of it is written down. */
  done(of: SubscriptionKey, eventId: number): void
  /** It is to be read again: reading goes back to before it. */
  giveBack(of: SubscriptionKey, eventId: number): void
  /** From where to read on, to be set when that has been done; without effect if something was given back meanwhile. */
  reading(of: SubscriptionKey): Reading
  /** Of subscriptions that fit. */
  pairs(which: (of: SubscriptionKey) => boolean): InHandPairs
  /** By community: those that have any. */
  subscriptions(): Map<number, number[]>
  /** How far everything has been read. */
  read(): SubscriptionPosition[]
  /** How far everything is written down, where that has not been stored. */
  unstored(): SubscriptionPosition[]
  stored(progress: SubscriptionPosition[]): void
}

interface Track extends SubscriptionKey {
  /** Positions by event, of what is in hand. */
  taken: Map<number, number | undefined>
  reading: Reading
  storedTo: number
}

export function holdInHand(): InHand {
  const tracks = new Map<string, Track>()

  function track({ communityId, subscriptionId }: SubscriptionKey): Track {
    const key = `${communityId}/${subscriptionId}`
    let found = tracks.get(key)
    if (!found) {
      found = { communityId, subscriptionId, taken: new Map(), reading: { readTo: undefined }, storedTo: 0 }
      tracks.set(key, found)
    }
    return found
  }

  return {
    take: (of, eventId, position) => void track(of).taken.set(eventId, position),
    done: (of, eventId) => void track(of).taken.delete(eventId),
    giveBack(of, eventId) {
      const found = track(of)
      const position = found.taken.get(eventId)
      found.taken.delete(eventId)
      // What has a row is found by it. A new object: whoever is just reading would go on from behind it.
      if (position !== undefined) found.reading = { readTo: before(position, found.reading) }
    },
    reading: (of) => track(of).reading,
    pairs(which) {
      const pairs: InHandPairs = { subscriptionIds: [], eventIds: [] }
      for (const one of tracks.values()) {
        if (!which(one)) continue
        for (const eventId of one.taken.keys()) {
          pairs.subscriptionIds.push(one.subscriptionId)
          pairs.eventIds.push(eventId)
        }
      }
      return pairs
    },
    subscriptions() {
      const byCommunity = new Map<number, number[]>()
      for (const { communityId, subscriptionId, taken } of tracks.values()) {
        if (taken.size === 0) continue
        const ids = byCommunity.get(communityId)
        if (ids) ids.push(subscriptionId)
        else byCommunity.set(communityId, [subscriptionId])
      }
      return byCommunity
    },
    read: () =>
      [...tracks.values()].flatMap(({ communityId, subscriptionId, reading: { readTo } }) =>
        readTo === undefined ? [] : [{ communityId, subscriptionId, position: readTo }],
      ),
    unstored() {
      const progress: SubscriptionPosition[] = []
      for (const [key, one] of tracks) {
        const position = doneTo(one)
        if (position !== undefined && position > one.storedTo) progress.push({ ...one, position })
        // Nothing to remember of it that is not stored.
        else if (one.taken.size === 0) tracks.delete(key)
      }
      return progress
    },
    stored(progress) {
      for (const one of progress) track(one).storedTo = one.position
    },
  }
}

function before(position: number, { readTo }: Reading): number | undefined {
  return readTo === undefined ? undefined : Math.min(readTo, position - 1)
}

function doneTo({ taken, reading: { readTo } }: Track): number | undefined {
  if (readTo === undefined) return undefined
  let first = readTo + 1
  for (const position of taken.values()) if (position !== undefined && position < first) first = position
  return first - 1
}
