interface Subscription {
  communityId: number
  subscriptionId: number
}

/**
 * Deliveries that a worker has read and is not done with. In the database they are still due, so that the next round
 * would read them again.
 */
export interface TakenIds {
  add(of: Subscription, id: number): void
  delete(of: Subscription, id: number): void
  /** Of subscriptions that fit. */
  all(which: (communityId: number, subscriptionId: number) => boolean): number[]
  of(communityId: number, subscriptionIds: Iterable<number>): number[]
  /** By community: those that have any. */
  subscriptions(): [communityId: number, subscriptionIds: number[]][]
}

export function rememberTakenIds(): TakenIds {
  const communities = new Map<number, Map<number, Set<number>>>()

  return {
    add({ communityId, subscriptionId }, id) {
      let subscriptions = communities.get(communityId)
      if (!subscriptions) communities.set(communityId, (subscriptions = new Map()))
      const ids = subscriptions.get(subscriptionId)
      if (ids) ids.add(id)
      else subscriptions.set(subscriptionId, new Set([id]))
    },
    delete({ communityId, subscriptionId }, id) {
      const subscriptions = communities.get(communityId)
      const ids = subscriptions?.get(subscriptionId)
      ids?.delete(id)
      if (ids?.size === 0) subscriptions!.delete(subscriptionId)
      if (subscriptions?.size === 0) communities.delete(communityId)
    },
    all: (which) =>
      [...communities].flatMap(([communityId, subscriptions]) =>
        [...subscriptions].flatMap(([id, ids]) => (which(communityId, id) ? toArray(ids) : [])),
      ),
    of(communityId, subscriptionIds) {
      const subscriptions = communities.get(communityId)
      return [...subscriptionIds].flatMap((id) => toArray(subscriptions?.get(id) ?? []))
    },
    subscriptions: () =>
      [...communities].map(([communityId, subscriptions]) => [communityId, toArray(subscriptions.keys())]),
  }
}

function toArray<T>(items: Iterable<T>): T[] {
  return [...items]
}
